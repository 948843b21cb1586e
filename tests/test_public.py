"""The public surface, pinned."""

import planner

PUBLIC = {
    "achannel_selection", "aplan", "channel_selection", "explain_route", "plan", "replay", "route_sources",
    "Planner", "PlanTracker", "ScriptedJudge",
    "ChannelPlan", "CombinedPlan", "Directive", "Progress", "Result", "RoutingRequest", "SelectionRequest",
    "SourcePlan", "TrackState",
    "CatalogError", "InputError", "PlannerError", "ReplayMiss", "SettingsError",
}  # fmt: skip


def test_the_public_names_are_these_and_each_exists():
    assert set(planner.__all__) == PUBLIC
    assert all(getattr(planner, name) is not None for name in PUBLIC)
    assert set(dir(planner)) >= PUBLIC - {"replay"}


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(planner, "nonsense")


def test_types_ship():
    from pathlib import Path

    assert (Path(planner.__file__).parent / "py.typed").is_file()
