"""The Markdown of a catalog folder → records, forgivingly. Whatever is wrong becomes a Problem with file and line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.catalog.frontmatter import FrontMatterError, Page, parse, parse_yaml
from planner.catalog.model import CUED, PLAIN, SKILL_PREFIX, Auth, Group, Leaf
from planner.catalog.naming import Cues
from planner.errors import CatalogError, nearest
from planner.paths import content_of
from planner.text import normalise

GENERATED = "# generated from the leaf pages by `planner catalog build`; change those instead"
LEFT_OUT = "left out: "  # leads what is said of a file that was not read
TIERS = ("Fast", "Standard", "Best")
LEAF_FIELDS = (
    "name", "description", "kind", "domains", "scenarios", "trigger_keywords", "aliases", "hosts", "mention_patterns",
    "mentions", "examples", "languages", "model_tier", "auth", "requires", "auth_required", "cost_usd",
    "experience_digest",
)  # fmt: skip
GROUP_FIELDS = (
    "name", "description", "domains", "scenarios", "surface", "native", "fallback", "recency_sensitive",
    "requires_domain_match", "members", "families", "leaves",
)  # fmt: skip
ROUTER_FIELDS = ("name", "description", "version", "groups", "keyword_hints")
_TRUE = frozenset(("true", "yes", "on", "1"))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a catalog file. `fatal`: the page was left out. `line` counts from 1."""

    path: Path
    line: int
    message: str
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(slots=True)
class Draft:
    """A catalog folder as read: nothing compiled yet. `examples`: channel -> example queries of its page."""

    root: Path
    groups: list[Group] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    examples: dict[str, tuple[str, ...]] = field(default_factory=dict)
    vocabulary: dict[str, frozenset[str]] = field(default_factory=dict)
    cues: Cues = field(default_factory=Cues)
    intents: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    group_pages: dict[str, Page] = field(default_factory=dict)  # a group may be called as a leaf is
    leaf_pages: dict[str, Page] = field(default_factory=dict)
    leaf_paths: dict[str, Path] = field(default_factory=dict)
    homes: dict[str, list[str]] = field(default_factory=dict)


def read_pages(root: Path) -> Draft:
    """The whole folder, leaf pages included; the source of truth for building and checking."""
    draft = _read_router(root)
    for path in sorted((root / "channels").glob("*/SKILL.md")):
        _read_leaf(path, draft)
    draft.leaves = _in_group_order(draft)
    return draft


def _read_router(root: Path) -> Draft:
    router = root / "router"
    if not (router / "SKILL.md").is_file():
        raise CatalogError(f"{root}: no catalog here (router/SKILL.md is missing)")
    draft = Draft(root)
    page = _page(router / "SKILL.md", draft)
    meta = page.meta if page else {}
    if page:
        _unknown_fields(page, router / "SKILL.md", ROUTER_FIELDS, draft)
    draft.vocabulary = {
        key: frozenset(map(str, terms)) for key, terms in _yaml(router / "vocabulary.yaml", draft).items()
    }
    draft.cues = _cues(_yaml(router / "cues.yaml", draft))
    draft.intents = _yaml(router / "intents.yaml", draft)
    hints = meta.get("keyword_hints") or {}
    names = text_list(meta.get("groups")) or tuple(sorted(p.stem for p in (router / "groups").glob("*.md")))
    for name in names:
        _read_group(router / "groups" / f"{name}.md", name, term_list(hints.get(name)), draft)
    if not draft.groups:
        raise CatalogError(f"{root}: no group index could be read")
    return draft


def _yaml(path: Path, draft: Draft) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return parse_yaml(_text(path))
    except (FrontMatterError, OSError, UnicodeDecodeError) as error:
        draft.problems.append(Problem(path, getattr(error, "line", 1), f"{LEFT_OUT}{error}", fatal=True))
        return {}


def _cues(raw: dict[str, Any]) -> Cues:
    known = Cues.__dataclass_fields__
    return Cues(**{key: term_list(value) for key, value in raw.items() if key in known})


def _page(path: Path, draft: Draft) -> Page | None:
    try:
        return parse(_text(path))
    except (FrontMatterError, OSError, UnicodeDecodeError) as error:
        draft.problems.append(Problem(path, getattr(error, "line", 1), f"{LEFT_OUT}{error}", fatal=True))
        return None


def _text(path: Path) -> str:
    return content_of(path).decode("utf-8")


def _read_group(path: Path, name: str, hints: tuple[str, ...], draft: Draft) -> None:
    page = _page(path, draft)
    if page is None:
        return
    meta = page.meta
    _unknown_fields(page, path, GROUP_FIELDS, draft)
    if meta.get("name", name) != name:
        draft.problems.append(Problem(path, page.line_of("name"), f"name {meta['name']!r} differs from its file"))
    surface = str(meta.get("surface") or "neutral")
    if surface not in ("zh", "en", "neutral"):
        draft.problems.append(Problem(path, page.line_of("surface"), f"unknown surface {surface!r}: zh, en or neutral"))
        surface = "neutral"
    draft.group_pages[name] = page
    draft.groups.append(
        Group(
            name=name,
            description=str(meta.get("description") or ""),
            domains=text_list(meta.get("domains")),
            scenarios=text_list(meta.get("scenarios")),
            surface=surface,
            native=_flag(meta.get("native")),
            fallback=_flag(meta.get("fallback")),
            recency_sensitive=_flag(meta.get("recency_sensitive")),
            requires_domain_match=_flag(meta.get("requires_domain_match")),
            members=tuple(bare(m) for m in text_list(meta.get("members"))),
            families=_families(meta.get("families")),
            hints=hints,
        )
    )


def _families(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        return {}
    return {" ".join(normalise(alias).split()): text_list(members) for alias, members in value.items()}


def _read_leaf(path: Path, draft: Draft) -> None:
    page = _page(path, draft)
    if page is None:
        return
    folder, meta = path.parent.name, page.meta
    name = str(meta.get("name") or "")
    if not name:
        draft.problems.append(Problem(path, page.start, f"{LEFT_OUT}it has no name", fatal=True))
        return
    if bare(name) != bare(folder):
        draft.problems.append(Problem(path, page.line_of("name"), f"name {name!r} differs from its folder {folder!r}"))
    _unknown_fields(page, path, LEAF_FIELDS, draft)
    leaf = leaf_from(meta, draft, path, page)
    draft.leaf_pages[leaf.channel] = page
    draft.leaf_paths[leaf.channel] = path
    draft.examples[leaf.channel] = text_list(meta.get("examples"))
    draft.leaves.append(leaf)


def leaf_from(meta: dict[str, Any], draft: Draft, path: Path, page: Page) -> Leaf:
    """A leaf from front matter; odd values become problems, never errors."""
    tier = str(meta.get("model_tier") or "Fast")
    if tier.capitalize() not in TIERS:
        message = f"unknown model_tier {tier!r} (known: {', '.join(TIERS)}); read as Fast"
        draft.problems.append(Problem(path, page.line_of("model_tier"), message))
    name = str(meta["name"])
    return Leaf(
        name=name if name.startswith(SKILL_PREFIX) else SKILL_PREFIX + bare(name),
        channel=bare(name),
        description=" ".join(str(meta.get("description") or "").split()),
        groups=_groups_of(bare(name), draft),
        kind=str(meta.get("kind") or "channel"),
        domains=text_list(meta.get("domains")),
        scenarios=text_list(meta.get("scenarios")),
        triggers=term_list(meta.get("trigger_keywords")),
        aliases=term_list(meta.get("aliases")),
        hosts=term_list(meta.get("hosts")),
        patterns=text_list(meta.get("mention_patterns")),
        mentions=_mentions(meta, draft, path, page),
        languages=text_list(meta.get("languages")) or ("any",),
        model_tier=tier.capitalize() if tier.capitalize() in TIERS else "Fast",
        auth=_auth(meta),
        cost_usd=_cost(meta, draft, path, page),
        digest=str(meta.get("experience_digest") or "experience.md"),
    )


def _groups_of(channel: str, draft: Draft) -> tuple[str, ...]:
    if not draft.homes:
        for group in draft.groups:
            for member in group.members:
                draft.homes.setdefault(member, []).append(group.name)
    return tuple(draft.homes.get(channel, ()))


def _in_group_order(draft: Draft) -> list[Leaf]:
    """Catalog order: groups as the router lists them, members as the group lists them; then the leaves of no group."""
    by_channel = {leaf.channel: leaf for leaf in draft.leaves}
    ordered = dict.fromkeys(m for g in draft.groups for m in g.members if m in by_channel)
    return [by_channel[c] for c in (*ordered, *(c for c in by_channel if c not in ordered))]


def _auth(meta: dict[str, Any]) -> Auth:
    raw = meta.get("auth")
    if isinstance(raw, dict):
        return Auth(*(text_list(raw.get(k)) for k in ("all_of", "any_of", "optional")))
    needed = [r.removeprefix("env:") for r in text_list(meta.get("requires")) if r.startswith("env:")]
    needed += [v for v in text_list(raw) if v.isupper()]
    return Auth(all_of=tuple(dict.fromkeys(needed)))


def _mentions(meta: dict[str, Any], draft: Draft, path: Path, page: Page) -> str:
    value = str(meta.get("mentions") or PLAIN)
    if value in (PLAIN, CUED):
        return value
    message = f"unknown mentions {value!r}: {PLAIN} or {CUED}; read as {PLAIN}"
    draft.problems.append(Problem(path, page.line_of("mentions"), message))
    return PLAIN


def _cost(meta: dict[str, Any], draft: Draft, path: Path, page: Page) -> float:
    text = str(meta.get("cost_usd") or "0")
    try:
        cost = float(text)
    except ValueError:
        cost = -1.0
    if 0 <= cost < float("inf"):
        return cost
    draft.problems.append(Problem(path, page.line_of("cost_usd"), f"cost_usd {text!r} is not a price; read as 0"))
    return 0.0


def _unknown_fields(page: Page, path: Path, known: Sequence[str], draft: Draft) -> None:
    for key in page.meta:
        if key not in known and (hint := nearest(key, list(known))):
            draft.problems.append(Problem(path, page.line_of(key), f"unknown field {key!r}; did you mean {hint}?"))


def text_list(value: object) -> tuple[str, ...]:
    """A list of text, whatever was written: one string (commas split it) is a list too."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, dict):
        return tuple(map(str, value))
    if isinstance(value, Iterable):
        return tuple(dict.fromkeys(str(item).strip() for item in value if str(item).strip()))
    return (str(value),)


def term_list(value: object) -> tuple[str, ...]:
    """A list of terms in the form matching happens on; done here, so that loading a compiled catalog need not."""
    return tuple(dict.fromkeys(" ".join(normalise(term).split()) for term in text_list(value)))


def bare(name: str) -> str:
    """The bare channel name of a skill name, as files spell it."""
    return name.strip().removeprefix(SKILL_PREFIX).replace("_", "-").lower()


def _flag(value: object) -> bool:
    return str(value).strip().lower() in _TRUE
