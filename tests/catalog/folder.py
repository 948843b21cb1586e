"""A small catalog on disk that tests may break."""

ROUTER = """---
name: router
description: test
groups: [life, web]
keyword_hints:
  web: [official site, 2025]
---
# Router
"""
GROUP = """---
name: {name}
description: {name} group
domains: [food]
scenarios: [local-guide]
surface: {surface}
native: {native}
fallback: {fallback}
members: [{members}]
---
# {name}
"""
LEAF = """---
name: search-{name}
description: what {name} holds
kind: channel
domains: [food]
scenarios: [local-guide]
trigger_keywords: [{triggers}]
aliases: [{aliases}]
examples: [where to eat noodles, 哪里吃面]
languages: [any]
model_tier: Fast
cost_usd: 0
---
# {name}
"""
VOCABULARY = "domains:\n  food: eating\nscenarios:\n  local-guide: where to go\n"


def make(root):
    """A catalog of two groups and four leaves; returns its folder."""
    router = root / "router" / "groups"
    router.mkdir(parents=True)
    (root / "router" / "SKILL.md").write_text(ROUTER, "utf-8")
    (root / "router" / "vocabulary.yaml").write_text(VOCABULARY, "utf-8")
    group(root, "life", "zh", "true", "false", "noodle, soup")
    group(root, "web", "neutral", "false", "true", "find, dig")
    for name, triggers, alias in (
        ("noodle", "拉面, ramen", "面吧"),
        ("soup", "汤", "soupy"),
        ("find", "2025, no", "findit"),
        ("dig", "archive", "digger"),
    ):
        leaf(root, name, triggers=triggers, aliases=alias)
    return root


def group(root, name, surface, native, fallback, members):
    text = GROUP.format(name=name, surface=surface, native=native, fallback=fallback, members=members)
    (root / "router" / "groups" / f"{name}.md").write_text(text, "utf-8")


def leaf(root, name, triggers="x1", aliases="y1", text=LEAF):
    path = root / "channels" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(name=name, triggers=triggers, aliases=aliases), "utf-8")
    return path


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8", newline="")
