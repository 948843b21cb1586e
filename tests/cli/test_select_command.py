"""`planner select` as a user runs it: a real process."""

import json
import os
import subprocess
import sys

import pytest

QUERY = "小红书有没有人用 Cursor 做编程"


@pytest.fixture
def run(env):
    def call(*args, stdin=None, **extra):
        command = [sys.executable, "-m", "planner.cli.main", *args]
        full = {"PATH": os.environ["PATH"], **env, **extra}
        return subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", env=full, check=False)

    return call


def test_a_plan_is_a_plain_table_when_piped(run):
    done = run("select", QUERY)
    assert done.returncode == 0
    assert "xiaohongshu" in done.stdout.splitlines()[1]
    assert "\x1b" not in done.stdout


def test_who_judges_is_said_on_stderr_when_no_model_is_configured(run):
    assert "heuristic judge" in run("select", QUERY).stderr
    assert run("select", QUERY, "--judge", "heuristic").stderr == ""


def test_json_is_the_plan_and_nothing_else(run):
    plan = json.loads(run("select", QUERY, "--json").stdout)
    assert plan["channels"][0]["name"] == "search-xiaohongshu"
    assert set(plan) >= {
        "groups",
        "channels",
        "chinese_native_quota_met",
        "skipped_groups",
        "skipped_channels",
        "elapsed_ms",
    }


def test_explain_shows_the_factors_and_what_kept_the_next_three_out(run):
    out = run("select", QUERY, "--explain").stdout
    assert "kept out by" in out
    assert "experience" in out


def test_options_and_a_request_file_say_the_same(run, tmp_path):
    options = (
        "--mode",
        "deep",
        "--rubric",
        "price",
        "--priority",
        "zhihu",
        "--skip",
        "weibo",
        "--languages",
        "zh_only",
    )
    request = {
        "query": QUERY,
        "clarify_result": {
            "mode": "deep",
            "rubrics": ["price"],
            "channel_priority": ["zhihu"],
            "channel_skip": "weibo",
        },
        "scope": {"languages": "zh_only"},
    }
    path = tmp_path / "request.json"
    path.write_text("\ufeff" + json.dumps(request), "utf-8")
    by_option = json.loads(run("select", QUERY, *options, "--json").stdout)
    by_file = json.loads(run("select", "--request", str(path), "--json").stdout)
    by_pipe = json.loads(run("select", "--request", "-", "--json", stdin=json.dumps(request)).stdout)
    assert by_option["channels"] == by_file["channels"] == by_pipe["channels"]


def test_channels_named_by_option_are_the_plan(run):
    plan = json.loads(run("select", "anything", "--channel", "hn", "--channel", "arxiv", "--json").stdout)
    assert [pick["channel"] for pick in plan["channels"]] == ["hackernews", "arxiv"]


def test_a_dash_reads_the_question_from_standard_input(run):
    assert "xiaohongshu" in run("select", "-", stdin=QUERY).stdout


@pytest.mark.rule("SEL-3.1")
@pytest.mark.parametrize(
    ("args", "field"),
    [
        (("select",), "QUERY"),
        (("select", "  "), "QUERY"),
        (("select", "q", "--max-channels", "0"), "planner: --max-channels: got 0"),
        (("select", "q", "--max-cost-usd", "nan"), "planner: --max-cost-usd: got"),
        (("select", "q", "--mode", "slow"), "--mode"),
        (("select", "q", "--channel", "nonsense"), "planner: --channel: got"),
        (("select", "--request", "/nowhere.json"), "--request"),
        (("select", "q", "--request", "-"), "--request"),
        (("selekt", "q"), "Did you mean select"),
    ],
)
def test_bad_input_exits_2_and_names_the_field(run, args, field):
    done = run(*args, stdin="{}")
    assert done.returncode == 2
    assert field in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("stdin", ["", "not json", "[1]", '{"query": 3}', '{"scope": {}}'])
def test_a_bad_request_file_exits_2(run, stdin):
    done = run("select", "--request", "-", stdin=stdin)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_unusable_catalog_or_settings_file_exits_3(run, tmp_path):
    assert run("select", "q", "--catalog", str(tmp_path)).returncode == 3
    bad = tmp_path / "planner.yaml"
    bad.write_text("selection: {group_threshold: high}")
    done = run("select", "q", "--settings", str(bad))
    assert done.returncode == 3
    assert "group_threshold" in done.stderr
    assert run("select", "q", PLANNER_SETTINGS=str(tmp_path / "none.yaml")).returncode == 3


def test_a_setting_can_come_from_the_environment(run):
    plan = json.loads(run("select", QUERY, "--json", PLANNER_SELECTION__MAX_CHANNELS="2").stdout)
    assert len(plan["channels"]) == 2


def test_a_planner_yaml_in_the_current_folder_is_not_read(run, tmp_path, monkeypatch):
    (tmp_path / "planner.yaml").write_text("selection: {max_channels: 1}")
    monkeypatch.chdir(tmp_path)
    assert len(json.loads(run("select", QUERY, "--json").stdout)["channels"]) > 1


@pytest.mark.parametrize("encoding", ["ascii", "cp936", "latin-1"])
def test_any_terminal_encoding_gets_a_plan(run, encoding, env):
    command = [sys.executable, "-m", "planner.cli.main", "select", QUERY]
    full = {"PATH": os.environ["PATH"], **env, "PYTHONIOENCODING": encoding}
    for extra in ([], ["--json"]):
        done = subprocess.run([*command, *extra], capture_output=True, env=full, check=False)
        assert done.returncode == 0, done.stderr
        assert b"xiaohongshu" in done.stdout


def test_a_closed_pipe_is_quiet(env):
    command = f"{sys.executable} -m planner.cli.main catalog list | head -1"
    full = {"PATH": os.environ["PATH"], **env}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=full, check=False)
    assert done.stderr == ""


def test_the_version_is_told(run):
    assert run("--version").stdout.startswith("planner 0.")


def test_the_names_of_all_required_keys_are_listed(run):
    names = json.loads(run("catalog", "list", "--required-env", "--json").stdout)
    assert {"TIKHUB_API_KEY", "EXA_API_KEY", "TAVILY_API_KEY"} <= set(names)


def test_a_channel_is_shown_by_any_spelling(run):
    assert json.loads(run("catalog", "show", "小红书", "--json").stdout)["required_env"] == ["TIKHUB_API_KEY"]
    assert run("catalog", "show", "nonsense").returncode == 2


def test_the_doctor_names_keys_and_never_shows_their_value(run):
    done = run("doctor", "--json", TIKHUB_API_KEY="canary-1234")
    report = json.loads(done.stdout)
    assert report["keys"]["TIKHUB_API_KEY"] == "set"
    assert "canary" not in done.stdout + done.stderr
    assert report["catalog"]["compiled.json"] == "fresh"
    bad = run("doctor", "--settings", "/nowhere.yaml")
    assert bad.returncode == 3
    assert "/nowhere.yaml" in bad.stdout
