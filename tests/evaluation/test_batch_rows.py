import json
from itertools import combinations

import pytest

from planner.evaluation.batch_rows import MAX_LINE, Item, core_row, flags, json_line, plan_items, read_item
from tests.evaluation.batch_runs import setup


def rows_of(planner, env, *lines, fields="core"):
    done = plan_items(planner, [Item(n, line) for n, line in enumerate(lines, 1)], setup(env, fields))
    parsed = [[json.loads(line) for line in part.splitlines()] for part in (done.rows, done.bad)]
    return *parsed, done


@pytest.mark.rule("EVA-2.2")
def test_a_core_row_repeats_the_plan(planner, env):
    (row,), _, _ = rows_of(planner, env, '{"id": "a", "query": "小红书 穿搭"}'.encode())
    plan = planner.select("小红书 穿搭")
    assert row["id"] == "a"
    assert row["channels"] == [pick.channel for pick in plan.channels]
    assert row["scores"] == [pick.score for pick in plan.channels]
    assert row["groups"] == [group.name for group in plan.groups]
    assert row["tier"] == "heuristic"


@pytest.mark.rule("EVA-2.2")
def test_the_longest_possible_core_row_takes_400_bytes(catalog):
    """Any three groups, the eight longest names in them, every flag, and an id of 36 characters."""
    full = [group.name for group in catalog.groups if catalog.members[group.name]]
    for groups in combinations(full, 3):
        names = {leaf.channel for group in groups for leaf in catalog.members[group]}
        row = {
            "id": "x" * 36,
            "channels": sorted(names, key=len)[-8:],
            "scores": [0.1234] * 8,
            "groups": groups,
            "flags": ["unguarded", "degraded", "keyless", "noted"],
            "tier": "heuristic",
        }
        assert len(json_line(row)) <= 400, groups


def test_flags_say_what_a_reader_should_know(planner, tmp_path):
    keyless = type(planner)(env={"PLANNER_STATE_DIR": str(tmp_path), "HOME": str(tmp_path)})
    plan = keyless.select("微博 热搜", {"channel_skip": ["nonesuch"]})
    assert {"keyless", "noted"} <= set(flags(plan))
    assert "unguarded" in flags(plan.model_copy(update={"chinese_native_quota_met": False}))
    assert core_row("a", plan)["flags"] == flags(plan)


@pytest.mark.rule("EVA-2.3")
def test_a_full_row_holds_the_whole_core(planner, env):
    (row,), _, _ = rows_of(planner, env, b'{"id": 7, "query": "rust lifetimes"}', fields="full")
    assert row == {"id": "7", "plan": json.loads(json.dumps(planner.select("rust lifetimes").core()))}


def test_a_line_without_an_id_is_called_by_its_number(planner, env):
    rows, _, _ = rows_of(planner, env, b'{"query": "a"}', b'{"query": "b", "id": null}')
    assert [row["id"] for row in rows] == ["1", "2"]


def test_labels_are_not_taken_for_wishes_and_unknown_fields_are_counted():
    name, request, ignored = read_item(Item(1, b'{"id": "a", "query": "x", "gold": {}, "colour": 1}'))
    assert (name, request, ignored) == ("a", {"query": "x"}, {"colour"})


@pytest.mark.rule("EVA-2.4")
@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"{nonsense", "line"),
        (b"[1]", "line"),
        (b"\xff\xfe", "line"),
        (b"[" * 100_000, "line"),
        (b'{"query": ""}', "query"),
        (b'{"query": "x", "id": [1]}', "id"),
        (b'{"query": "x", "id": true}', "id"),
        (b'{"query": "x", "scope": {"recency": "yesterday"}}', "scope.recency"),
        (b'{"query": "' + b"x" * MAX_LINE + b'"}', "line"),
    ],
)
def test_a_bad_line_is_put_aside_with_its_number_and_what_is_wrong(planner, env, line, field):
    rows, bad, done = rows_of(planner, env, b'{"query": "good"}', line)
    assert len(rows) == 1
    assert bad[0]["line"] == 2
    assert bad[0]["error"].startswith(f"{field}: ")
    assert bad[0]["given"]
    assert done.counts == {"rows": 1, "bad": 1}
