import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.folding import fold


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("Übergrößenträger", "ubergrossentrager"),
        ("İstanbul", "istanbul"),
        ("ışık", "isik"),
        ("Øresund Łódź Ærø Þór đường", "oresund lodz aero thor duong"),
        ("façade naïve Ångström", "facade naive angstrom"),
        ("ﬁne ﬂow", "fine flow"),
        ("ｆｕｌｌ　ｗｉｄｔｈ１２", "full width12"),
        ("ﾃﾞｰﾀ", "データ"),
        ("Ёлка", "елка"),
        ("йод", "йод"),
        ("їжак", "їжак"),
        ("за́мок", "замок"),
        ("Άνθρωπος ΣΊΣΥΦΟΣ", "ανθρωποσ σισυφοσ"),
        ("كِتَابٌ", "كتاب"),
        ("أحمد إلى آخر", "احمد الي اخر"),
        ("۱۲۳ ١٢٣ १२३", "123 123 123"),
        ("x² CO₂", "x2 co2"),
        ("soft\u00adhyphen می\u200cخواهم", "softhyphen ميخواهم"),
        ("がぎ ハパバ", "がぎ ハパバ"),
        ("ที่นี่", "ที่นี่"),
        ("हिन्दी सम्बन्ध अन्न", "हिंदी संबंध अन्न"),
        ("ज़रूरत फ़ाइल", "जरूरत फाइल"),
        ("a\u2066b\u202c c\ufeffd", "ab cd"),
    ],
)
def test_spellings_of_one_word_fold_to_the_same(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_composed_and_decomposed_text_fold_to_the_same(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))
