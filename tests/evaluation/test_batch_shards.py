"""Shards, without a cluster: they cover the input once, in order, and leave what the local engine writes."""

import json

import pytest

from planner.errors import InputError
from planner.evaluation.batch import run_batch
from planner.evaluation.batch_shards import inputs, plan_shard, read_shard, split
from tests.evaluation.batch_runs import job, request_lines, setup, unwatched, write_requests


def write_table(path, count, row_group_size):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(list(request_lines(count))), path, row_group_size=row_group_size)
    return path


@pytest.mark.parametrize("rows", [1, 3, 7, 10, 100])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
def test_shards_of_lines_cover_the_file_once_in_order(tmp_path, rows, ending):
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(f'{{"query": "{n}"}}' for n in range(10)) + ending)
    items = [item for shard in split([str(source)], rows) for item in read_shard(shard)]
    assert [json.loads(item.raw)["query"] for item in items] == [str(n) for n in range(10)]
    assert [item.number for item in items] == list(range(1, 11))


@pytest.mark.parametrize("rows", [1, 3, 7, 10, 100])
def test_shards_of_a_table_cover_it_once_in_order(tmp_path, rows):
    table = write_table(tmp_path / "in.parquet", 30, 7)
    items = [item for shard in split([str(table)], rows) for item in read_shard(shard)]
    assert [item.raw["id"] for item in items] == [request["id"] for request in request_lines(30)]
    assert [item.number for item in items] == list(range(1, 31))


def test_files_of_a_folder_are_numbered_through_in_the_order_of_their_names(tmp_path):
    for name, queries in (("b.jsonl", "c\n"), ("a.jsonl", "a\nb\n"), ("notes.txt", "x\n")):
        (tmp_path / name).write_text(queries)
    paths = inputs(str(tmp_path))
    items = [item for shard in split(paths, 1) for item in read_shard(shard)]
    assert [(item.number, item.raw.strip()) for item in items] == [(1, b"a"), (2, b"b"), (3, b"c")]
    assert inputs(f"file://{tmp_path}") == [f"file://{path}" for path in paths]
    with pytest.raises(InputError, match="a folder of files"):
        inputs(str(tmp_path / "nowhere"))


@pytest.mark.rule("EVA-2.9", "EVA-2.10")
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_shard_planned_twice_leaves_the_rows_of_the_local_engine_once(tmp_path, env, planner, form):
    import pyarrow.parquet as pq

    source = write_requests(tmp_path / "in.jsonl", 20)
    with source.open("a") as file:
        file.write("oops\n")
    run_batch(job(source, tmp_path / "local.jsonl", env), unwatched)
    out = tmp_path / "shards"
    out.mkdir()
    for shard in [*split([str(source)], 6)] * 2:
        plan_shard(planner, shard, setup(env), str(out), form)
    parts = sorted(out.glob("part-*"))
    if form == "jsonl":
        rows = [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]
    else:
        rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    assert rows == [json.loads(line) for line in (tmp_path / "local.jsonl").read_bytes().splitlines()]
    assert [path.name for path in out.glob("bad-*")] == ["bad-000003.jsonl"]
    assert len(list(out.iterdir())) == len(parts) + 1
