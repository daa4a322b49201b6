import pytest

from engine import Settings, all_options, set_language, value_at
from gui.settings.value_formatting import UnreadableValue, field_text, read_field, value_text

OPTIONS = {option.key: option for option in all_options()}


@pytest.fixture
def german():
    set_language("de")
    yield
    set_language("en")


def test_field_text_reads_back_as_same_value():
    for option in all_options():
        value = value_at(Settings(), option.key)
        if option.kind in ("whole", "number", "text", "list", "texts", "numbers", "lists"):
            assert read_field(option, field_text(option, value)) == value, option.key


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("query.max_results", " 1,200 ", 1200),
        ("query.min_score", "0,5", 0.5),
        ("query.hybrid.vector_weight", "", None),
        ("include", "a.md\n\n b/** \n", ("a.md", "b/**")),
        ("prices", "openai/a=b = 0.02", {"openai/a=b": 0.02}),
        ("remote.headers", "X-Team = a=b", {"X-Team": "a=b"}),
        ("window.keys", "view.index = Ctrl+, or F3\nhelp.keys =", {"view.index": ("Ctrl+,", "F3"), "help.keys": ()}),
    ],
)
def test_typed_text_is_read(key, text, value):
    assert read_field(OPTIONS[key], text) == value


@pytest.mark.usefixtures("german")
def test_field_text_reads_back_with_decimal_comma():
    test_field_text_reads_back_as_same_value()
    assert field_text(OPTIONS["query.min_score"], 0.35) == "0,35"
    assert field_text(OPTIONS["prices"], {"openai/a.b": 0.02}) == "openai/a.b = 0,02"
    assert value_text(OPTIONS["sync.watch_debounce_ms"], 1500).startswith("1.500 ")


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("query.max_results", "1.200", 1200),
        ("query.min_score", "0,5", 0.5),
        ("query.min_score", "0.350", 0.35),
        ("query.hybrid.temporal_decay.half_life_days", "1.234,5", 1234.5),
        ("query.hybrid.temporal_decay.half_life_days", "1.234.567", 1234567),
        ("prices", "openai/a.b = 0,02", {"openai/a.b": 0.02}),
    ],
)
def test_german_field_reads_decimal_comma(key, text, value):
    assert read_field(OPTIONS[key], text) == value


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("text", ["1,5", "1.5", "1,200"])
def test_ambiguous_thousands_separator_is_not_whole_number(text):
    with pytest.raises(UnreadableValue):
        read_field(OPTIONS["query.max_results"], text)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("query.max_results", "1.5"),
        ("query.max_results", "1,5"),
        ("query.max_results", ""),
        ("query.min_score", "nan"),
        ("query.min_score", "much"),
        ("prices", "openai/a"),
        ("remote.headers", "= x"),
    ],
)
def test_invalid_text_gives_one_sentence(key, text):
    with pytest.raises(UnreadableValue) as raised:
        read_field(OPTIONS[key], text)
    assert str(raised.value).endswith((".", "not."))


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("sync.watch", True, "on"),
        ("window.theme", "system", "Follow the system"),
        ("sources", ("memory",), "Notes"),
        ("include", (), "none"),
        ("sync.watch_debounce_ms", 1500, "1,500 milliseconds"),
        ("dimensions", None, "not set"),
        ("window.editor", "", "empty"),
    ],
)
def test_setting_values_are_worded(key, value, words):
    assert value_text(OPTIONS[key], value) == words
