import json

import pytest

from planner.evaluation.queries import read_queries


def read(*rows, mode=None):
    return read_queries("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode(), mode)


@pytest.mark.rule("EVA-1.7")
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "not JSON"),
        ("[]", "a JSON object"),
        ({"query": "x"}, "id"),
        ({"id": "a"}, "query"),
        ({"id": "a", "query": " "}, "query"),
        ({"id": "a", "query": "x", "gold": {"arxiv": 4}}, "gold.arxiv"),
        ({"id": "a", "query": "x", "gold": ["arxiv"]}, "gold"),
        ({"id": "a", "query": "x", "gold_groups": "web"}, "gold_groups"),
        ({"id": "a", "query": "x", "clarify_result": {"mode": "slow"}}, "clarify_result.mode"),
        ({"id": "a", "query": "x", "scope": {"budget": {"max_channels": 0}}}, "scope.budget.max_channels"),
        ({"id": "ok", "query": "x"}, "line 1 has it"),
    ],
)
def test_a_bad_line_is_named_by_number_and_field(row, said):
    good, bad = read({"id": "ok", "query": "fine"}, "", row)
    assert [line.id for line in good] == ["ok"]
    assert bad[0].number == 3
    assert said in bad[0].problem


def test_a_line_that_is_not_text_is_bad():
    good, bad = read_queries(b'\xef\xbb\xbf{"id": 1, "query": "x"}\r\n\xff\xfe\n')
    assert (good[0].id, bad[0].problem) == ("1", "not UTF-8")


def test_the_mode_is_for_lines_that_name_none():
    good, _ = read(
        {"id": "a", "query": "x"}, {"id": "b", "query": "x", "clarify_result": {"mode": "fast"}}, mode="deep"
    )
    assert [line.request.clarify_result.mode for line in good] == ["deep", "fast"]
