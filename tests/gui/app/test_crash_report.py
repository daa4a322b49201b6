"""Contents of a report: planted notes, queries, names and keys must not be in it."""

import errno
import os
from pathlib import Path

import msgspec
import pytest

import engine
from gui.app.crash_report import failure_of, report, shown_path

NOTE = "Grandmother's diagnosis came on Tuesday"
QUERY = "divorce lawyer nearby"
FILE = "/home/klaus/notes/affairs/therapy.md"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
PLANTED = (NOTE, QUERY, FILE, "therapy", "klaus", "affairs", "Grandmother", "divorce", KEY, "abcdefghijklmnop")


def _raise(error: BaseException) -> None:
    raise error


def _caught(run) -> BaseException:
    try:
        run()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def _report_of(run, settings=None) -> str:
    error = _caught(run)
    return report([(failure_of(error, error.__traceback__, "in the window"), 1)], settings)


def _open_note() -> None:
    Path(FILE).read_text()


def _look_up() -> None:
    {}[QUERY]


def _parse() -> None:
    int(NOTE)


def _attribute_of_a_word() -> None:
    getattr(object(), "divorce" + "")


def _decode() -> None:
    (NOTE.encode() + b"\xff").decode()


def _chained() -> None:
    try:
        _look_up()
    except KeyError as error:
        raise RuntimeError(f"while asking {QUERY}") from error


def _nothing():
    return None


def _noted() -> None:
    error = ValueError(NOTE)
    error.add_note(f"{FILE}: {KEY}")
    raise error


def _grouped() -> None:
    raise ExceptionGroup(NOTE, [KeyError(QUERY), OSError(errno.ENOENT, "no", FILE)])


def _run_from_elsewhere() -> None:
    exec(compile(f"raise ValueError({NOTE!r})", FILE, "exec"), {})


def _run_from_a_text() -> None:
    exec(compile("1 / 0", f"<{QUERY}>", "exec"), {})


def _msgspec() -> None:
    msgspec.json.decode(f'"{QUERY}"', type=int)


@pytest.mark.parametrize(
    "run",
    [
        _open_note,
        _look_up,
        _parse,
        _decode,
        _chained,
        _noted,
        _grouped,
        _run_from_elsewhere,
        _run_from_a_text,
        _msgspec,
        lambda: _raise(AttributeError(f"'str' object has no attribute '{KEY}'")),
        lambda: _raise(RuntimeError(KEY)),
        lambda: _raise(engine.SettingsError(f"{FILE}, line 2: {QUERY}")),
        lambda: _raise(TypeError(f"{QUERY} object is not callable")),
        lambda: _raise(AssertionError(NOTE)),
        lambda: _raise(OSError(errno.EACCES, NOTE, FILE)),
        lambda: _raise(OSError(NOTE)),
    ],
)
def test_report_contains_no_user_data(run):
    text = _report_of(run)
    assert not [planted for planted in PLANTED if planted in text]
    assert "Traceback (most recent call last):" in text


def test_attribute_name_read_as_data_is_not_in_report():
    word = "".join(["di", "vorce"])
    assert word not in _report_of(lambda: getattr(object(), word))


def test_local_values_are_not_in_report():
    def fail(_note: str) -> None:
        path = FILE  # noqa: F841
        raise KeyError(_note)

    assert not [planted for planted in PLANTED if planted in _report_of(lambda: fail(NOTE))]


class _Odd(Exception):
    def __str__(self) -> str:
        raise ValueError(NOTE)


def test_unprintable_error_is_reported_by_type_name():
    text = _report_of(lambda: _raise(_Odd()))
    assert "_Odd (message left out)" in text


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: _nothing().strip(), "AttributeError: 'NoneType' object has no attribute 'strip'"),
        (lambda: NOTE.split()[99], "IndexError: list index out of range"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: 1 + "", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        (lambda: nowhere, "NameError: name 'nowhere' is not defined"),  # noqa: F821
        (_open_note, f"FileNotFoundError: ENOENT, {os.strerror(errno.ENOENT)}"),
        (lambda: _raise(OSError(errno.ENOSPC, "x")), "OSError: ENOSPC"),
        (_grouped, "ExceptionGroup of KeyError, FileNotFoundError"),
        (_chained, "The above was the cause of:"),
    ],
)
def test_python_errors_about_code_keep_their_message(run, words):
    assert words in _report_of(run)


def test_report_paths_are_relative_to_installation():
    text = _report_of(lambda: engine.open_memory(3))
    assert "  engine/backends/opening.py:" in text
    assert str(Path(engine.__file__).parents[1]) not in text
    assert str(Path.home()) not in text


@pytest.mark.parametrize(
    ("path", "shortened"),
    [
        (engine.__file__, "engine/__init__.py"),
        (os.__file__, "python/os.py"),
        ("/opt/x/lib/python3.11/site-packages/msgspec/json.py", "msgspec/json.py"),
        ("/home/klaus/notes/gui/app/application.py", "(elsewhere)"),
        ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"),
        ("<my secret text>", "(elsewhere)"),
        ("gui/app/application.py", "gui/app/application.py"),
        ("a note about me.py", "(elsewhere)"),
    ],
)
def test_shown_path_is_shortened(path, shortened):
    assert shown_path(path) == shortened


def test_deep_recursion_report_is_short():
    def again() -> None:
        again()

    text = _report_of(again)
    assert "RecursionError: maximum recursion depth exceeded" in text
    assert "more …" in text
    assert len(text.splitlines()) < 120


def test_report_names_changed_settings_without_values():
    settings = engine.Settings()
    changed = msgspec.structs.replace(
        settings,
        workspace=FILE,
        remote=msgspec.structs.replace(settings.remote, base_url=f"http://{KEY}.klaus.example"),
    )
    text = _report_of(lambda: NOTE.split()[99], changed)
    assert "Settings that were changed: workspace, remote.base_url." in text
    assert not [planted for planted in PLANTED if planted in text]


def test_same_error_has_same_signature():
    one, two, other = (_caught(run) for run in (_look_up, _look_up, _parse))
    words = [failure_of(error, error.__traceback__, "in the window").signature for error in (one, two, other)]
    assert words[0] == words[1] != words[2]


def test_error_without_traceback_has_empty_location():
    failure = failure_of(ValueError("x"), None, "in the background")
    assert failure.location == ""
    assert "ValueError" in failure.trace
