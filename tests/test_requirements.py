"""Rules and tests are held against each other both ways."""

import re
from pathlib import Path

import yaml

TESTS = Path(__file__).parent
CLAIM = re.compile(r"pytest\.mark\.rule\(([^)]*)\)")


def rules():
    found = {}
    for path in sorted((TESTS / "requirements").glob("*.yaml")):
        for rule, text in yaml.safe_load(path.read_text("utf-8")).items():
            assert rule not in found, f"{rule} stands twice"
            found[rule] = text
    return found


def claims():
    found = {}
    for path in TESTS.rglob("test_*.py"):
        for claim in CLAIM.finditer(path.read_text("utf-8")):
            for rule in re.findall(r"[A-Z]{3}-\d+\.\d+", claim.group(1)):
                found.setdefault(rule, set()).add(path.name)
    return found


def test_every_rule_is_shown_by_a_test():
    missing = sorted(set(rules()) - set(claims()))
    assert not missing, f"no test shows {missing}"


def test_every_test_shows_a_rule_that_exists():
    unknown = sorted(set(claims()) - set(rules()))
    assert not unknown, f"tests claim unknown rules {unknown}"


def test_every_rule_is_a_sentence():
    for rule, text in rules().items():
        assert isinstance(text, str), rule
        assert len(text) > 20, rule
