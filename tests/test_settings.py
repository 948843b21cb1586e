"""Settings: defaults, the user's file, PLANNER_* variables; what is wrong is named."""

import pytest

from planner.errors import SettingsError
from planner.settings import load_settings


@pytest.mark.rule("SEL-4.8")
@pytest.mark.parametrize("weights", ["group_weights", "leaf_weights"])
def test_weights_sum_to_one_or_are_refused(weights):
    shipped = getattr(load_settings(None, {}).selection, weights)
    assert sum(shipped.in_order) == pytest.approx(1.0)
    first = next(iter(type(shipped).model_fields))
    with pytest.raises(SettingsError, match=weights):
        load_settings({"selection": {weights: {first: 0.99}}}, {})


@pytest.mark.rule("SEL-4.8")
def test_changed_weights_that_sum_to_one_are_used(env):
    from planner.pipeline import Planner

    weights = {"priority": 0.0, "scenario": 1.0, "keyword": 0.0, "auth": 0.0, "experience": 0.0}
    plan = Planner(settings={"selection": {"leaf_weights": weights}}, env=env).select("best budget mirrorless camera")
    assert all(pick.score == pick.factors["scenario"] for pick in plan.channels)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"selektion": {}}, "did you mean selection?"),
        ({"selection": {"group_treshold": 0.3}}, "did you mean selection.group_threshold?"),
        ({"selection": {"group_threshold": "high"}}, "selection.group_threshold"),
        ({"judge": {"default": "oracle"}}, "judge.default"),
        ({"selection": {"targets": {"fast": 0}}}, "selection.targets.fast"),
    ],
)
def test_a_wrong_field_or_value_is_named(values, named):
    with pytest.raises(SettingsError) as caught:
        load_settings(values, {})
    assert named.split("selection.")[-1] in str(caught.value)


@pytest.mark.parametrize("text", ["selection: [", "- a list", "\t"])
def test_a_file_that_is_no_mapping_is_refused_with_its_path(tmp_path, text):
    path = tmp_path / "planner.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"planner\.yaml"):
        load_settings(path, {})


def test_an_empty_file_changes_nothing(tmp_path):
    path = tmp_path / "planner.yaml"
    path.write_text("# nothing yet\n")
    assert load_settings(path, {}).selection == load_settings(None, {}).selection


def test_a_variable_beats_the_file_and_an_unknown_one_is_noted(tmp_path):
    path = tmp_path / "planner.yaml"
    path.write_text("selection: {group_threshold: 0.3}")
    env = {"PLANNER_SETTINGS": str(path), "PLANNER_SELECTION__GROUP_THRESHOLD": "0.5", "PLANNER_CATALOGUE": "x"}
    found = load_settings(None, env)
    assert found.selection.group_threshold == 0.5
    assert found.notes == ("PLANNER_CATALOGUE is not a setting; did you mean PLANNER_CATALOG?",)


@pytest.mark.parametrize("source", [5, ["planner.yaml"], object()])
def test_settings_of_another_kind_are_refused(source):
    with pytest.raises(SettingsError, match="accepted: a mapping, a file's path, or Settings"):
        load_settings(source, {})
