import io
import json
import sys
from types import SimpleNamespace

import pytest

from planner.errors import InputError
from planner.evaluation import batch_workers
from planner.evaluation.batch import run_batch
from planner.evaluation.batch_rows import MAX_LINE
from planner.evaluation.batch_sources import Place, chunks_of, read_chunks
from planner.pipeline import Planner
from tests.evaluation.batch_runs import TODAY, file_names, job, request_lines, unwatched, write_requests


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr("planner.evaluation.batch.ROWS", 4)


def stopping_after(chunks):
    seen = []

    def watch(status):
        seen.append(status)
        if len(seen) == chunks:
            raise KeyboardInterrupt

    return watch


@pytest.mark.rule("EVA-2.1")
def test_rows_are_those_of_a_plain_loop_in_the_same_order(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", 30), tmp_path / "out.jsonl"
    summary = run_batch(job(source, out, env, fields="full"), unwatched)
    planner = Planner(env=env)
    expected = [
        {"id": request.pop("id"), "plan": planner.select(request, judge="heuristic", today=TODAY).core()}
        for request in request_lines(30)
    ]
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == json.loads(json.dumps(expected))
    assert summary.counts == {"rows": 30}
    assert file_names(tmp_path) == ["in.jsonl", "out.jsonl"]


@pytest.mark.rule("EVA-2.1")
def test_parquet_in_and_out_hold_the_same_rows(tmp_path, env):
    import pyarrow as pa
    import pyarrow.parquet as pq

    source, table = write_requests(tmp_path / "in.jsonl", 30), tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(list(request_lines(30))), table, row_group_size=7)
    for given, out, fields in [
        (source, "a.jsonl", "core"), (table, "b.jsonl", "core"),
        (table, "c.parquet", "core"), (table, "d.parquet", "full"),
    ]:  # fmt: skip
        run_batch(job(given, tmp_path / out, env, fields=fields), unwatched)
    lines = (tmp_path / "a.jsonl").read_bytes()
    assert (tmp_path / "b.jsonl").read_bytes() == lines
    assert pq.read_table(tmp_path / "c.parquet").to_pylist() == [json.loads(line) for line in lines.splitlines()]
    full = pq.read_table(tmp_path / "d.parquet")
    assert full.column_names == ["id", "plan"]
    assert json.loads(full["plan"][0].as_py())["schema_version"] == "1.0"
    assert full.schema.metadata[b"planner.judge"] == b"heuristic"


@pytest.mark.parametrize("start", [0, 1, 6, 7, 8, 20, 29, 30])
def test_a_parquet_file_is_read_from_any_row_on(tmp_path, start):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = tmp_path / "in.parquet"
    pq.write_table(pa.table({"query": [str(n) for n in range(30)]}), table, row_group_size=7)
    chunks = list(read_chunks(str(table), Place(start, start), 4))
    assert [item.raw["query"] for chunk in chunks for item in chunk.items] == [str(n) for n in range(start, 30)]
    assert [item.number for chunk in chunks for item in chunk.items] == list(range(start + 1, 31))
    assert not chunks or chunks[-1].end == (30, 30)


def test_an_endless_line_is_not_held_in_memory_and_the_next_one_is_read():
    source = io.BytesIO(b"x" * (3 * MAX_LINE) + b'\n\n{"query": "b"}')
    (chunk,) = chunks_of(source, Place(), 10)
    assert [item.number for item in chunk.items] == [1, 3]
    assert len(chunk.items[0].raw) == MAX_LINE + 2
    assert chunk.end == (3 * MAX_LINE + 2 + 14, 3)


@pytest.mark.rule("EVA-2.5")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("chunks", [1, 4, 10])
def test_an_interrupted_run_resumes_to_the_same_file(tmp_path, env, chunks, ending):
    source = write_requests(tmp_path / "in.jsonl", 38)
    with source.open("a", encoding="utf-8") as file:
        file.write("oops\n\n")
    whole, out = tmp_path / f"whole.{ending}", tmp_path / f"out.{ending}"
    run_batch(job(source, whole, env), unwatched)
    with pytest.raises(KeyboardInterrupt):
        run_batch(job(source, out, env), stopping_after(chunks))
    assert not out.exists()
    with (tmp_path / f"out.{ending}.part").open("ab") as part:
        part.write(b'{"id":"torn by a kill')
    summary = run_batch(job(source, out, env, start="resume"), unwatched)
    assert out.read_bytes() == whole.read_bytes()
    assert (tmp_path / f"out.{ending}.bad.jsonl").read_bytes() == (tmp_path / f"whole.{ending}.bad.jsonl").read_bytes()
    assert summary.counts == {"rows": 38, "bad": 1}


@pytest.mark.rule("EVA-2.5")
@pytest.mark.parametrize("done", ["nothing", "named", "half named"])
def test_a_run_killed_while_its_files_get_their_names_is_completed(tmp_path, env, monkeypatch, done):
    source, out = write_requests(tmp_path / "in.jsonl", 9), tmp_path / "out.jsonl"
    monkeypatch.setattr("planner.evaluation.batch_output.settle", lambda *_: None)
    run_batch(job(source, out, env), unwatched)
    monkeypatch.undo()
    if done != "nothing":
        (tmp_path / "out.jsonl.bad.jsonl.part").unlink()
    if done == "named":
        (tmp_path / "out.jsonl.part").rename(out)
    summary = run_batch(job(source, out, env, start="resume"), unwatched)
    assert summary.counts["rows"] == len(out.read_text("utf-8").splitlines()) == 9
    assert file_names(tmp_path) == ["in.jsonl", "out.jsonl"]


@pytest.mark.rule("EVA-2.5", "EVA-2.3")
def test_a_resumed_run_goes_on_with_the_day_it_was_begun_and_only_with_the_same_setup(tmp_path, env):
    from dataclasses import replace

    source, out = write_requests(tmp_path / "in.jsonl", 20), tmp_path / "out.jsonl"
    first = job(source, out, env)
    with pytest.raises(KeyboardInterrupt):
        run_batch(first, stopping_after(1))
    with pytest.raises(InputError, match="fields full"):
        run_batch(job(source, out, env, fields="full", start="resume"), unwatched)
    later = replace(first, start="resume", setup=replace(first.setup, today=TODAY.replace(year=2030)))
    run_batch(later, unwatched)
    run_batch(replace(first, out=str(tmp_path / "whole.jsonl")), unwatched)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.rule("EVA-2.5")
def test_another_input_is_not_resumed(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", 20), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_batch(job(source, out, env), stopping_after(1))
    source.write_text('{"query": "another"}\n' * 20)
    with pytest.raises(InputError, match="input sha256:"):
        run_batch(job(source, out, env, start="resume"), unwatched)


@pytest.mark.rule("EVA-2.12")
def test_what_is_there_is_not_written_over_without_force(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", 5), tmp_path / "out.jsonl"
    out.write_text("mine")
    for start in ("new", "resume"):
        with pytest.raises(InputError, match="--force"):
            run_batch(job(source, out, env, start=start), unwatched)
    assert out.read_text() == "mine"
    run_batch(job(source, out, env, start="force"), unwatched)
    assert len(out.read_text("utf-8").splitlines()) == 5


@pytest.mark.rule("EVA-2.12")
def test_a_side_file_is_not_written_over_either_and_none_of_an_earlier_run_stays(tmp_path, env):
    source, aside = write_requests(tmp_path / "in.jsonl", 3), tmp_path / "aside.jsonl"
    aside.write_text("mine")
    for out in (tmp_path / "out.jsonl", "-"):
        with pytest.raises(InputError, match="--bad"):
            run_batch(job(source, out, env, bad=str(aside)), unwatched)
    assert aside.read_text() == "mine"
    run_batch(job(source, tmp_path / "out.jsonl", env, bad=str(aside), start="force"), unwatched)
    assert file_names(tmp_path) == ["in.jsonl", "out.jsonl"]


@pytest.mark.rule("EVA-2.5")
def test_a_journal_is_not_believed_when_its_rows_are_gone(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", 20), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_batch(job(source, out, env), stopping_after(2))
    (tmp_path / "out.jsonl.part").unlink()
    with pytest.raises(InputError, match="vouches"):
        run_batch(job(source, out, env, start="resume"), unwatched)
    (tmp_path / "out.jsonl.journal").write_text("{torn")
    with pytest.raises(InputError, match="sound journal"):
        run_batch(job(source, out, env, start="resume"), unwatched)


@pytest.mark.rule("EVA-2.12")
def test_an_unfinished_run_is_not_begun_again_by_accident(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", 20), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_batch(job(source, out, env), stopping_after(2))
    with pytest.raises(InputError, match="--resume"):
        run_batch(job(source, out, env), unwatched)


@pytest.mark.rule("EVA-2.12")
def test_two_runs_do_not_write_one_file(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", 5), tmp_path / "out.jsonl"

    def also_run(_status):
        with pytest.raises(InputError, match="no other run"):
            run_batch(job(source, out, env, start="resume"), unwatched)

    run_batch(job(source, out, env), also_run)
    assert out.exists()


@pytest.mark.rule("EVA-2.6")
def test_processes_write_what_one_writes_and_a_dead_one_is_replaced(tmp_path, env, monkeypatch):
    import os
    import signal

    source = write_requests(tmp_path / "in.jsonl", 60)
    run_batch(job(source, tmp_path / "one.jsonl", env), unwatched)
    killed = []
    take = batch_workers._Crew.take

    def killing(crew):
        if not killed:
            killed.append(next(iter(crew.pool._processes)))
            os.kill(killed[0], signal.SIGKILL)
        return take(crew)

    monkeypatch.setattr(batch_workers._Crew, "take", killing)
    run_batch(job(source, tmp_path / "two.jsonl", env, workers=2), unwatched)
    assert killed
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


@pytest.mark.rule("EVA-2.1")
def test_a_pipe_is_read_and_written(env, monkeypatch, capfdbinary):
    lines = b"".join(json.dumps(request).encode() + b"\n" for request in request_lines(10))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines + b"oops\n")))
    summary = run_batch(job("-", "-", env), unwatched)
    rows, notes = capfdbinary.readouterr()
    assert [json.loads(row)["id"] for row in rows.splitlines()] == [f"r{n:07}" for n in range(10)]
    assert json.loads(notes)["line"] == 11
    assert summary.counts == {"rows": 10, "bad": 1}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"out": "-", "start": "resume"}, "--resume"),
        ({"workers": 0}, "--workers"),
        ({"concurrency": 0}, "--concurrency"),
        ({"per_minute": 0}, "--per-minute"),
        ({"source": "nowhere.jsonl"}, "IN"),
        ({"source": "bad.parquet"}, "IN"),
        ({"out": "nowhere/out.jsonl"}, "OUT"),
    ],
)
def test_what_cannot_work_is_refused_before_the_first_plan(tmp_path, env, monkeypatch, changes, field):
    from dataclasses import replace

    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.parquet").write_bytes(b"no table")
    write_requests(tmp_path / "in.jsonl", 1)
    with pytest.raises(InputError) as refused:
        run_batch(replace(job("in.jsonl", "out.jsonl", env), **changes), unwatched)
    assert refused.value.field == field
    assert file_names(tmp_path) == ["bad.parquet", "in.jsonl"]
