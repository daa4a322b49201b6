import gc
from pathlib import Path

import pytest

from engine import VERBS
from gui import __main__
from gui.app.command_line import parse_options, view_names


def test_no_arguments_open_search_view():
    options = parse_options([])
    assert (options.view, options.query, options.demo, options.screenshot, options.size) == (
        "search",
        "",
        False,
        None,
        None,
    )


def test_all_options_are_parsed(tmp_path):
    picture = tmp_path / "a.png"
    options = parse_options(
        [
            "--demo",
            "--query",
            "timer",
            "--view",
            "viewer",
            "--screenshot",
            str(picture),
            "--theme",
            "dark",
            "--size",
            "900x600",
        ]
    )
    assert options.demo
    assert (options.screenshot, options.theme, options.size) == (picture, "dark", (900, 600))
    assert parse_options(["--workspace", "notes"]).workspace == Path("notes")
    assert parse_options(["mnemoscope://anything"]).link == "mnemoscope://anything"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--size", "wide"], "'wide' is not a size such as 1280x800"),
        (["--size", "100x800"], "each side must be from 200 to 10000"),
        (["--screenshot", "a.jpg"], "'a.jpg' does not end in .png"),
        (["--screenshot", "nowhere/at/all/a.png"], "does not exist"),
        (["--view", "nowhere"], "invalid choice: 'nowhere'"),
        (["--demo", "--workspace", "x"], "leave out --workspace"),
        (["--view", "viewer"], "name a --query"),
        (["--view", "explanation"], "name a --query"),
        (["--view", "first-run", "--query", "x"], "leave out --query"),
        (["--view", "sources", "--query", "x"], "leave out --query"),
        (["--workspace", "notes", "search", "timer"], "the command comes first: mnemoscope search --workspace DIR"),
        (["serch", "timer"], "'serch' is neither a command (index, search, get, "),
        (["."], "'.' is a folder: open it with --workspace"),
        (["--quer", "x"], "unrecognized arguments: --quer"),
        (["mnemoscope://open?path=a.md", "more"], "unrecognized arguments: more"),
        (["--toggle", "--query", "x"], "leave out --query"),
        (["--background", "--demo"], "leave out --query, --view, --demo"),
        (["--toggle", "--background"], "leave out one of them"),
        (["--theme", "pink"], "invalid choice: 'pink'"),
    ],
)
def test_wrong_usage_prints_one_line_and_exits_2(capsys, arguments, problem):
    assert __main__.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("mnemoscope: ")
    assert problem in err


@pytest.mark.parametrize("argument", ["serch", "mnemoscope://nowhere"])
def test_argument_without_command_keeps_gc_thresholds(argument, capsys):
    before = gc.get_threshold()
    __main__.main([argument, "--quer"])
    assert gc.get_threshold() == before


def test_command_named_like_a_folder_is_a_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sessions").mkdir()
    assert __main__.main(["--workspace", ".", "sessions"]) == 2
    assert "the command comes first: mnemoscope sessions --workspace DIR" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_exit_0(capsys, argument):
    assert __main__.main([argument]) == 0
    assert "mnemoscope" in capsys.readouterr().out


def test_help_lists_every_verb_and_view(capsys):
    __main__.main(["--help"])
    printed = capsys.readouterr().out
    for verb, does in VERBS.items():
        assert f"  {verb:<10}  {does}\n" in printed
    words = {word.rstrip(",") for word in printed.split()}
    assert words >= set(view_names())
    assert max(map(len, printed.splitlines())) < 100


def test_wrong_option_prints_no_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_options(["--\x1b[2J\x9b"])
    assert "\x1b" not in (error := capsys.readouterr().err)
    assert "\x9b" not in error
