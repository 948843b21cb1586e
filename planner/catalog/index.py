"""The leaf metadata that each group index carries: generated from the leaf pages, and compared with them."""

from __future__ import annotations

from pathlib import Path

from planner.catalog.frontmatter import Page
from planner.catalog.model import Group, Leaf, leaf_record
from planner.catalog.pages import GENERATED, Draft


def group_path(root: Path, name: str) -> Path:
    """Where a group's index lives."""
    return root / "router" / "groups" / f"{name}.md"


def generated_text(group: Group, page: Page, leaves: dict[str, Leaf]) -> str:
    """The whole group index with its generated block brought up to date."""
    front = _authored(page)
    records = [leaf_record(leaves[m]) for m in group.members if m in leaves]
    block = _yaml({"leaves": records}).rstrip("\n") if records else "leaves: []"
    body = "\n".join(page.lines[page.end :])
    head = "\n".join(page.lines[: page.start])
    return "\n".join([head, *front, GENERATED, block, body])


def stale_groups(draft: Draft) -> list[str]:
    """Names of groups whose index differs from what their leaf pages say."""
    leaves = {leaf.channel: leaf for leaf in draft.leaves}
    return [
        g.name
        for g in draft.groups
        if generated_text(g, draft.group_pages[g.name], leaves) != "\n".join(draft.group_pages[g.name].lines)
    ]


def _authored(page: Page) -> list[str]:
    lines = list(page.lines[page.start : page.end])
    if GENERATED in lines:
        lines = lines[: lines.index(GENERATED)]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _yaml(value: object) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the same text, ten times as fast
    text: str = yaml.dump(
        value, Dumper=dumper, allow_unicode=True, sort_keys=False, width=1_000_000, default_flow_style=None
    )
    return text
