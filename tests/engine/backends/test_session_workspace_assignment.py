"""One session store and several workspaces: every session is indexed in exactly one of them."""

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.backends.qmd.session_exports import SessionExports
from engine.base.cancellation import CancelToken
from engine.corpus.transcripts import transcript_reader
from engine.corpus.transcripts.quick_summary import read_quick_summary
from engine.corpus.transcripts.transcript_reader import project_of
from engine.indexing import session_stage
from engine.indexing.session_workspace_assignment import preview_workspace
from engine.indexing.sync_progress import ProgressMeter
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from engine.store.index_paths import index_files
from engine.store.session_workspaces import SessionOwner, SessionOwnership
from tests.helpers.fake_provider import FakeProvider, selection_of

Open = Callable[[str], BuiltinMemory]


def write_session(store: Path, name: str, project: Path | str, text: str) -> Path:
    head = {"type": "session", "id": name, "cwd": str(project), "timestamp": "2026-03-01T10:00:00.000Z"}
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    line = {"type": "message", "id": "m1", "timestamp": "2026-03-01T10:01:00.000Z", "message": message}
    path = store / f"{name}.jsonl"
    path.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "agents/main/sessions"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def open_(tmp_path: Path, store: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(provider))
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    opened: dict[str, BuiltinMemory] = {}

    def open_one(name: str) -> BuiltinMemory:
        if name not in opened:
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
            opened[name] = BuiltinMemory(tmp_path / name, settings, executor=None, background=False)
        return opened[name]

    yield open_one
    for memory in opened.values():
        memory.close()


def held(memory: BuiltinMemory) -> set[str]:
    return {Path(session.path).stem for session in memory.sessions()}


def test_three_workspaces_share_a_store(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat, work = (open_(name) for name in ("garden", "boat", "work"))
    write_session(store, "carrots", tmp_path / "garden", "When are the carrots sown?")
    write_session(store, "mast", tmp_path / "boat/hull", "The varnish peels off the mast.")
    write_session(store, "invoice", "/somewhere/else", "The invoice lacks its number.")
    for memory in (garden, boat, work, garden, boat, work):
        memory.sync()
    assert (held(garden), held(boat), held(work)) == ({"carrots", "invoice"}, {"mast"}, set())
    found = [[one.path for one in memory.search("peels varnish").results] for memory in (garden, boat, work)]
    assert found == [[], ["sessions/main/mast.jsonl"], []]


def test_folder_that_no_quick_look_finds_decides_the_workspace(
    open_: Open, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_stage, "read_quick_summary", lambda *_: None)
    garden, boat = open_("garden"), open_("boat")
    write_session(store, "carrots", tmp_path / "garden", "When are the carrots sown?")
    write_session(store, "mast", tmp_path / "boat/hull", "The varnish peels off the mast.")
    for memory in (boat, garden, boat, garden):
        memory.sync()
    assert (held(garden), held(boat)) == ({"carrots"}, {"mast"})


def test_preview_skips_sessions_of_other_workspaces(open_: Open, store: Path, tmp_path: Path) -> None:
    garden = open_("garden")
    write_session(store, "invoice", "/somewhere/else", "The invoice lacks its number.")
    write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    (tmp_path / "boat").mkdir()
    before = preview_workspace(tmp_path / "boat", settings)
    assert (before.session_files, before.skipped) == (2, ())
    garden.sync()
    write_session(store, "new", "/somewhere/else", "Nobody has indexed this one.")
    counts = {name: preview_workspace(tmp_path / name, settings).session_files for name in ("boat", "garden")}
    assert counts == {"boat": 2, "garden": 3}  # a sync of the boat takes over the session about its mast
    issues = preview_workspace(tmp_path / "boat", settings).skipped
    assert [(issue.path, issue.rule) for issue in issues] == [("sessions/main", "kept-elsewhere")]
    assert held(garden) == {"invoice", "mast"}


def test_session_changing_workspace_is_never_missing(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat = open_("garden"), open_("boat")
    write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    garden.sync()
    assert held(garden) == {"mast"}  # no other workspace has it yet
    boat.sync()
    garden.sync()
    assert (held(garden), held(boat)) == (set(), {"mast"})
    boat.sync()
    assert held(boat) == {"mast"}


def test_listed_session_is_read_once(open_: Open, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(store, "mast", "/somewhere/else", "The varnish peels off the mast.")
    looked: list[str] = []
    monkeypatch.setattr(
        session_stage, "read_quick_summary", lambda *of: (looked.append(Path(of[1]).stem), read_quick_summary(*of))[1]
    )
    monkeypatch.setattr(session_stage, "project_of", lambda path: pytest.fail(f"{path} was read for its project"))
    garden = open_("garden")
    garden.sync()
    assert (held(garden), looked) == ({"mast"}, ["mast"])


def test_unchanged_sync_leaves_claims_unlocked(open_: Open, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(store, "mast", "/somewhere/else", "The varnish peels off the mast.")
    garden, boat = open_("garden"), open_("boat")
    for memory in (garden, boat):
        memory.sync()
    monkeypatch.setattr(SessionOwnership, "change", lambda *_: pytest.fail("the owner was written again"))
    for memory in (garden, boat):
        memory.sync()
    assert (held(garden), held(boat)) == ({"mast"}, set())


def test_session_belongs_to_innermost_workspace(open_: Open, store: Path, tmp_path: Path) -> None:
    outer, inner = open_("boats"), open_("boats/sloop")
    write_session(store, "mast", tmp_path / "boats/sloop/rig", "The varnish peels off the mast.")
    for memory in (inner, outer, inner):
        memory.sync()
    assert (held(outer), held(inner)) == (set(), {"mast"})


def test_nothing_is_embedded_again(open_: Open, store: Path, tmp_path: Path, provider: FakeProvider) -> None:
    """The state after an update from a version in which each index had all sessions."""
    garden, boat = open_("garden"), open_("boat")
    write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    garden.sync()
    boat.sync()
    (tmp_path / "data/indexes/session-homes.sqlite").unlink()
    assert held(garden) == held(boat) == {"mast"}
    before = len(provider.embedded)
    for memory in (garden, boat, garden, boat):
        memory.sync()
    assert (held(garden), held(boat)) == (set(), {"mast"})
    assert len(provider.embedded) == before


def test_session_of_deleted_workspace_is_reassigned(
    open_: Open, store: Path, tmp_path: Path, provider: FakeProvider
) -> None:
    garden, boat = open_("garden"), open_("boat")
    write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    for memory in (garden, boat, garden):
        memory.sync()
    assert held(garden) == set()
    before = len(provider.embedded)
    shutil.rmtree(tmp_path / "boat")
    garden.sync()
    assert held(garden) == {"mast"}
    assert len(provider.embedded) == before  # its vectors were still stored


def test_session_continues_in_its_workspace(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat = open_("garden"), open_("boat")
    path = write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    boat.sync()
    garden.sync()
    message = {"role": "assistant", "content": [{"type": "text", "text": "Seven thin coats."}]}
    more = {"type": "message", "id": "m2", "timestamp": "2026-03-01T10:02:00.000Z", "message": message}
    path.write_text(path.read_text() + json.dumps(more) + "\n")
    garden.sync()
    boat.sync()
    assert held(garden) == set()
    (session,) = boat.sessions()
    assert session.messages == 2


def test_other_workspace_reason_shown(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat = open_("garden"), open_("boat")
    path = write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    boat.sync()
    report = garden.sync()
    state = garden.explain_path(str(path))
    where = f"belongs to the workspace boat ({tmp_path / 'boat'})."
    assert (state.state, state.rule) == ("excluded", "kept-elsewhere")
    assert where in state.sentence
    details = [issue.detail for issue in report.skipped if issue.rule == "kept-elsewhere"]
    assert details == [f"1 session {where}"]
    assert (report.files_seen, report.files_removed) == (0, 0)


def test_damaged_claims_rebuilt(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat = open_("garden"), open_("boat")
    write_session(store, "mast", tmp_path / "boat", "The varnish peels off the mast.")
    boat.sync()
    (tmp_path / "data/indexes/session-homes.sqlite").write_bytes(b"no database at all" * 500)
    for memory in (garden, boat, garden):
        memory.sync()
    assert (held(garden), held(boat)) == (set(), {"mast"})


def test_a_session_leaves_a_workspace_that_stops_listing_it(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat = open_("garden"), open_("boat")
    write_session(store, "invoice", "/somewhere/else", "The invoice lacks its number.")
    garden.sync()
    boat.sync()
    assert held(boat) == set()
    without = Settings(store=StoreSettings(path=str(tmp_path / "data")))
    again = BuiltinMemory(tmp_path / "garden", without, executor=None, background=False)
    again.sync()
    again.close()
    boat.sync()
    assert held(boat) == {"invoice"}


def test_qmd_exports_respect_claims(open_: Open, store: Path, tmp_path: Path) -> None:
    garden, boat = open_("garden"), tmp_path / "boat"
    boat.mkdir()
    write_session(store, "carrots", tmp_path / "garden", "When are the carrots sown?")
    write_session(store, "mast", boat, "The varnish peels off the mast.")
    garden.sync()
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    files = index_files(boat, settings.store.path)
    exports = SessionExports(files.folder / "qmd/sessions", boat, files, settings)
    for _ in range(2):
        done = exports.update(CancelToken(), ProgressMeter("manual", lambda update: None), lambda: None)
        assert [(one.known.id, one.written) for one in exports.all()] == [("mast", True)]
        assert [issue.rule for issue in done.skipped] == ["kept-elsewhere"]


def test_qmd_exports_survive_a_fault_in_one_folder(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boat = tmp_path / "boat"
    boat.mkdir()
    for name in ("mast", "odd"):
        write_session(store, name, boat, "The varnish peels off the mast.")

    def faulty(path: str) -> str:
        if path.endswith("odd.jsonl"):
            raise KeyError(path)
        return project_of(path)

    monkeypatch.setattr(transcript_reader, "project_of", faulty)
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    files = index_files(boat, settings.store.path)
    files.folder.mkdir(parents=True)
    exports = SessionExports(files.folder / "qmd/sessions", boat, files, settings)
    exports.update(CancelToken(), ProgressMeter("manual", lambda update: None), lambda: None)
    assert {one.known.id for one in exports.all()} == {"mast", "odd"}


@pytest.mark.parametrize("part", ["ghp_" + "a1B2c3D4" * 5, "password=hunter2"])
def test_secret_in_a_working_directory_is_stored_masked(open_: Open, store: Path, tmp_path: Path, part: str) -> None:
    garden, boat = open_("garden"), open_(f"{part}/boat")
    write_session(store, "mast", tmp_path / part / "boat/hull", "The varnish peels off the mast.")
    write_session(store, "invoice", f"/srv/{part}", "The invoice lacks its number.")
    for memory in (garden, boat, garden, boat):
        memory.sync()
    assert (held(garden), held(boat)) == ({"invoice"}, {"mast"})
    with contextlib.closing(sqlite3.connect(tmp_path / "data/indexes/session-homes.sqlite")) as connection:
        projects = [project for (project,) in connection.execute("SELECT project FROM homes")]
    assert len(projects) == 2
    assert not [project for project in projects if part in project]


def test_directory_stored_unmasked_is_masked_by_a_sync(open_: Open, store: Path, tmp_path: Path) -> None:
    garden = open_("garden")
    secret = "ghp_" + "a1B2c3D4" * 5
    write_session(store, "invoice", f"/srv/{secret}", "The invoice lacks its number.")
    garden.sync()
    homes = tmp_path / "data/indexes/session-homes.sqlite"
    with contextlib.closing(sqlite3.connect(homes)) as connection, connection:
        connection.execute("UPDATE homes SET project = ?", (f"/srv/{secret}",))
    garden.sync()
    assert secret.encode() not in b"".join(file.read_bytes() for file in homes.parent.glob("session-homes.sqlite*"))


def test_session_stays_if_another_workspace_has_its_successor(tmp_path: Path) -> None:
    store = tmp_path / ".claude" / "projects"
    folder = store / "-home-ada"
    folder.mkdir(parents=True)

    def write(name: str, project: str, *more: dict[str, str]) -> None:
        message = {"type": "user", "uuid": "u1", "sessionId": name, "message": {"role": "user", "content": "Why?"}}
        lines = {**message, "cwd": str(tmp_path / project)}, *more
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in lines))

    mark = {"type": "continued-in", "continuedInSessionId": "new"}
    write("old", "garden", mark)
    write("new", "boat")
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    names = {}
    with contextlib.ExitStack() as opened:
        for name in ("boat", "garden"):
            (tmp_path / name).mkdir()
            memory = BuiltinMemory(tmp_path / name, settings, executor=None, background=False)
            opened.callback(memory.close)
            memory.sync()
            names[name] = memory
        assert (held(names["boat"]), held(names["garden"])) == ({"new"}, {"old"})
        files = index_files(tmp_path / "garden", settings.store.path)
        exports = SessionExports(files.folder / "qmd/sessions", tmp_path / "garden", files, settings)
        exports.update(CancelToken(), ProgressMeter("manual", lambda update: None), lambda: None)
        assert [one.known.id for one in exports.all()] == ["old"]
        shutil.rmtree(tmp_path / "boat")
        write("old", "garden", mark, {"type": "last-prompt"})
        for _ in range(2):
            names["garden"].sync()
            assert held(names["garden"]) == {"new"}


def test_owners_of_paths_with_any_sign_are_read_as_written(tmp_path: Path) -> None:
    owners = SessionOwnership(tmp_path / "owners.sqlite")
    names = ("a,b.jsonl", "a|b.jsonl", "a b;c.jsonl", "line\nbreak.jsonl", "a'b\".jsonl", "日記.jsonl")
    homes = {
        f"/{name}": SessionOwner(f"/notes, {number % 2}", number % 2, "/boat") for number, name in enumerate(names)
    }
    owners.change(lambda _: homes)
    assert owners.read() == homes
