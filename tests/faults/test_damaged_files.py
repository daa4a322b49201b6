"""Test verbs with each of the program's files damaged: a verb works or prints a one-sentence error."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.cli import main
from engine.settings.loading import SETTINGS_VERSION

_VERBS = (
    ("status", "--json"),
    ("search", "pump"),
    ("facts", "list"),
    ("searches",),
    ("sessions",),
    ("doctor", "--json"),
    ("index",),
    ("facts", "add", "I like coffee"),
    ("search", "pump"),
)
_DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda data: bytes(4096),
    "half": lambda data: data[: len(data) // 2],
    "first page": lambda data: data[:100] + bytes(range(256)) * 16 + data[4196:],
    "second page": lambda data: data[:4096] + bytes(range(256)) * 8 + data[6144:],
    "empty": lambda data: b"",
}
_DAMAGED_TEXT: dict[str, Callable[[bytes], bytes]] = {
    "deep arrays": lambda data: b"[" * 200_000,
    "deep objects": lambda data: b'{"a":' * 100_000,
    "digits": lambda data: b"9" * 5000,
    "broken text": lambda data: b'{"folder": "\xff\xfe"}',
    "wrong types": lambda data: b'{"folder": 1, "forgotten": "x", "recent": [null]}',
    "UTF-16": lambda data: "{}".encode("utf-16"),
}
_VALUES = (
    *("NULL", "'abc'", "-5", "9223372036854775807", "1e308", "9e999"),
    *("CAST(x'fffe41' AS TEXT)", "CAST(x'610062' AS TEXT)", "x'ff00fe'", "'" + '{"a":' * 2000 + "'"),
)
_SETTINGS = f"version = {SETTINGS_VERSION}\n[defaults]\n"
_BAD_SETTINGS = {
    "digits": "max_file_bytes = " + "9" * 5000,
    "negative digits": "max_file_bytes = -" + "9" * 5000,
    "hexadecimal digits": "max_file_bytes = 0x" + "f" * 5000,
    "digits with underscores": "max_file_bytes = " + "9_" * 3000 + "9",
    "over 64 bits": "max_file_bytes = " + "9" * 100,
    "infinite": "query.min_score = 1e999",
    "deep arrays": "extra_paths = " + "[" * 50_000,
    "deep tables": "query = " + "{a=" * 50_000,
    "long key": ".".join("a" * 50_000) + " = 1",
    "long quoted key": ".".join(['"a"'] * 50_000) + " = 1",
    "long table": "[" + " . ".join("a" * 50_000) + "]",
    "zero byte in a workspace": '[workspace."/a\\u0000b"]',
    "raw zero byte": '[workspace."/a\0b"]',
    "zero byte in a path": 'store.path = "/a\\u0000b"',
    "zero byte in a list": 'extra_paths = ["/a\\u0000b"]',
    "zero byte in a name": 'remote.headers = {"a\\u0000" = "b"}',
    "unknown user for the index": 'store.path = "~nosuchuser/x"',
    "large file": "#" + "x" * 5_000_000,
}
_ODD_SETTINGS = {
    "unknown user": '[workspace."~nosuchuser/x"]',
    "long name": f'[workspace."/{"x" * 5000}"]',
    "long path": f'extra_paths = ["/{"x" * 5000}", "~nosuchuser/x"]',
}
"""Unusual but valid settings."""


class Home:
    """A user's files with an index, facts and settings, which can be restored after damage."""

    def __init__(self, home: Path, spare: Path) -> None:
        self._home, self._spare = home, spare
        self.notes = home / "notes"
        self.notes.mkdir()
        (self.notes / "a.md").write_text("# Pump\n\nThe pump leaks.\n")
        store = home / "agents/main/sessions"
        store.mkdir(parents=True)
        lines = [
            {"type": "session", "id": "s", "cwd": str(self.notes)},
            {"type": "message", "id": "m", "message": {"role": "user", "content": "The pump leaks again."}},
        ]
        (store / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.settings = home / ".config/mnemoscope/settings.toml"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(f'{_SETTINGS}provider = "none"\nsessions.folders = ["{store.as_posix()}"]\n')
        assert self.run("facts", "add", "I like tea") == self.run("index") == 0
        (self.index,) = (path for path in (home / ".local/share/mnemoscope/indexes").iterdir() if path.is_dir())
        shutil.copytree(home, spare)

    def files(self) -> list[Path]:
        return [path for path in sorted(self._home.rglob("*")) if path.is_file() and self.notes not in path.parents]

    def restore(self) -> None:
        shutil.rmtree(self._home)
        shutil.copytree(self._spare, self._home)

    def run(self, *arguments: str) -> int:
        return main([*arguments, "--workspace", str(self.notes)])


@pytest.fixture
def home(user_home: Path, tmp_path: Path) -> Home:
    return Home(user_home, tmp_path / "spare")


@pytest.fixture
def checked(home: Home, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[str], set[int]]]:
    """Run all verbs and return their exit codes; an error must be a single sentence for the user."""

    def check(case: str) -> set[int]:
        codes = set()
        for verb in _VERBS:
            capsys.readouterr()
            codes.add(home.run(*verb))
            output = capsys.readouterr()
            about = f"{case}: {verb}: {output.err[:500]}"
            assert "Unexpected" not in output.err, about
            assert "Traceback" not in output.err + output.out, about
            assert output.err.count("\n") <= 2, about
        assert codes <= {0, 1}, case
        return codes

    return check


@pytest.mark.parametrize("damage", [*_DAMAGE, *_DAMAGED_TEXT])
def test_verbs_survive_every_damaged_file(home: Home, checked: Callable[[str], set[int]], damage: str) -> None:
    change = (_DAMAGE | _DAMAGED_TEXT)[damage]
    for path in home.files():
        if damage in _DAMAGED_TEXT and path.suffix == ".sqlite":
            continue  # a file without pages, like one of zeros
        path.write_bytes(change(path.read_bytes()))
        checked(f"{damage} in {path.name}")
        home.restore()


@pytest.mark.parametrize("name", ["index.sqlite", "user.sqlite", "session-homes.sqlite"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_verbs_survive_a_foreign_database(
    home: Home, checked: Callable[[str], set[int]], name: str, data: st.DataObject
) -> None:
    database = (home.index.parent if name == "session-homes.sqlite" else home.index) / name
    connection = apsw.Connection(str(database))
    connection.pragma("ignore_check_constraints", 1)
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    table = data.draw(st.sampled_from([name for (name,) in tables]))
    columns = [name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table}")')]
    column = data.draw(st.sampled_from(columns))
    value = data.draw(st.sampled_from(_VALUES))
    statement = data.draw(
        st.sampled_from(
            [
                f'UPDATE OR REPLACE "{table}" SET "{column}" = {value}',
                f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO other',
                f'DROP TABLE "{table}"',
                f"PRAGMA user_version = {data.draw(st.sampled_from([0, 1, 99]))}",
            ]
        )
    )
    try:
        connection.execute(statement).fetchall()
    except apsw.Error:
        return  # SQLite itself forbids it
    finally:
        connection.close()
    checked(statement[:200])
    home.restore()


def test_damaged_index_is_rebuilt(home: Home, checked: Callable[[str], set[int]], capsys) -> None:
    connection = apsw.Connection(str(home.index / "index.sqlite"))
    connection.execute("UPDATE chunks_1 SET text = CAST(x'fffe41' AS TEXT)")
    connection.close()
    checked("broken text")
    capsys.readouterr()
    assert home.run("search", "pump") == 0
    assert "a.md" in capsys.readouterr().out


def test_damaged_facts_are_not_overwritten(home: Home, capsys) -> None:
    connection = apsw.Connection(str(home.index / "user.sqlite"))
    connection.execute("ALTER TABLE facts RENAME COLUMN text TO other")
    connection.close()
    assert home.run("facts", "add", "I like coffee") == 1
    assert "is damaged" in capsys.readouterr().err
    assert home.run("doctor", "--repair") == 0
    capsys.readouterr()
    assert home.run("facts", "list") == 0
    assert "I like tea" in capsys.readouterr().out


@pytest.mark.parametrize("case", [*_BAD_SETTINGS, *_ODD_SETTINGS])
def test_unusable_settings_print_one_sentence(home: Home, checked: Callable[[str], set[int]], case: str) -> None:
    lines = {**_BAD_SETTINGS, **_ODD_SETTINGS}
    home.settings.write_text(f'{_SETTINGS}provider = "none"\n{lines[case]}\n')
    codes = checked(case)
    assert codes == {1} if case in _BAD_SETTINGS else 0 in codes


@pytest.mark.parametrize("folder", ["/a\0b", "~nosuchuser/notes", "/" + "x" * 5000, "/etc/passwd/notes"])
def test_unusable_workspace_prints_one_sentence(folder: str, user_home: Path, capsys) -> None:
    assert main(["search", "pump", "--workspace", folder]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "Unexpected" not in message
