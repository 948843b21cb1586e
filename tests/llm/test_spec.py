import pytest

from planner.llm.spec import ModelSpec, default_models, providers


@pytest.mark.rule("JDG-3.4")
@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4.1", "OPENAI_API_KEY"),
        ("gpt-4.1-mini", "OPENAI_API_KEY"),
        ("claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY"),
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("dashscope/qwen-plus", "DASHSCOPE_API_KEY"),
    ],
)
def test_the_key_is_read_from_the_providers_variable(model, variable):
    spec = ModelSpec(model)
    assert spec.key({variable: "k"}) == "k"
    assert spec.lacks_key({variable: "  "})


def test_a_server_of_ones_own_needs_no_key():
    assert not ModelSpec("openai/local", "http://127.0.0.1:1/v1").lacks_key({})
    assert not ModelSpec("ollama/qwen2.5").lacks_key({})


def test_a_variable_named_in_the_settings_comes_first():
    spec = ModelSpec("openai/x", key_env="MY_KEY")
    assert spec.key({"MY_KEY": "mine", "OPENAI_API_KEY": "other"}) == "mine"


def test_the_first_provider_with_a_key_gives_the_default_models():
    standard, fast = default_models({"DEEPSEEK_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
    assert (standard.name, fast.name) == ("anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5")
    assert default_models({"TIKHUB_API_KEY": "k"}) == (None, None)


def test_default_models_have_a_price():
    from planner.llm import cost

    for row in providers():
        for tier in ("standard", "fast"):
            if tier in row:
                assert cost.price(ModelSpec(row[tier]), 1000, 100) > 0, row
