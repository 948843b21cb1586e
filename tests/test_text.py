"""Normalisation and script detection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.text import clean, has_han, language_of, normalise


@pytest.mark.rule("SEL-4.6")
@pytest.mark.parametrize(
    ("written", "matched"),
    [
        ("ＧｉｔＨｕｂ", "github"),
        ("請問臺灣軟體", "请问台湾软体"),
        ("小\u200b红书", "小红书"),
        ("Straße", "strasse"),
        ("a\x00b", "a b"),
    ],
)
def test_all_spellings_of_a_word_become_one(written, matched):
    assert normalise(written) == matched


@pytest.mark.rule("SEL-7.8")
@pytest.mark.parametrize(
    "char", ["中", "\u3400", "\U00020000", "\U0002b740", "\U00030000", "\U000323b0", "\uf900", "\u2f00", "々", "〇"]
)
def test_every_han_block_counts(char):
    assert has_han(f"abc {char}")


@pytest.mark.parametrize("text", ["かな", "カナ", "한글", "。「」", "😀", "ABC"])
def test_other_scripts_and_punctuation_are_not_han(text):
    assert not has_han(text)


@pytest.mark.rule("SEL-3.5")
@pytest.mark.parametrize(
    ("query", "words", "language"),
    [
        ("怎么学做饭", 0, "zh"),
        ("怎麼學做飯", 0, "zh"),
        ("用 Cursor 写代码", 1, "zh"),
        ("Cursor 和 Claude Code 国内 dev 实际用下来 which one", 6, "mixed"),
        ("東京の天気", 0, "ja"),
        ("유튜브에서 요리", 0, "ko"),
        ("how do vaccines work", 4, "en"),
        ("Qdenga efficacy", 2, "en"),
        ("auriculares para correr que no se caigan", 7, "other"),
        ("Wärmepumpe im Altbau mit alten Heizkörpern", 6, "other"),
        ("ما هو الفرق", 0, "other"),
        ("что такое инфляция", 0, "other"),
        ("42", 0, "other"),
    ],
)
def test_the_language_of_a_query(query, words, language):
    assert language_of(query, words) == language


@given(st.text())
def test_normalising_twice_changes_nothing_that_matching_sees(text):
    once = normalise(text)
    assert normalise(once) == normalise(normalise(once))


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_can_be_cleaned_and_written(text):
    clean(text).encode("utf-8")
