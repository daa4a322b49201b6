"""The guard opens exactly the names that discovery returns, and nothing else."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import PathRefused
from engine.corpus.discovery import discover
from engine.corpus.path_guard import PathGuard
from engine.settings import Settings


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    for name in ("a.md", "sub/b.md", ".git/c.md", "x.log", "drafts/d.md", ".ssh/e.md", "sub/.f.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (tmp_path / "outside.md").write_text("secret")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "tunnel").symlink_to(tmp_path)
    (root / "folder.md").mkdir()
    os.mkfifo(root / "pipe.md")
    return root


@pytest.fixture
def guard(workspace: Path) -> PathGuard:
    return PathGuard(workspace, Settings(exclude=("drafts/",)))


def test_a_listed_name_is_located(guard: PathGuard, workspace: Path) -> None:
    assert guard.locate("a.md") == workspace / "a.md"
    assert guard.locate("sub/b.md") == workspace / "sub" / "b.md"


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "/", "a.md/", "/a.md", "./a.md", "sub//b.md", "sub/../a.md", "../outside.md", "../notes/a.md",
        "sub\\b.md", "..\\outside.md", "a.md\0", "\0", "a.md\n", "C:\\a.md", "//host/share/a.md", "sub", "x.log",
        "link.md", "tunnel/outside.md", "tunnel/notes/a.md", "folder.md", "pipe.md", ".git/c.md", "drafts/d.md",
        ".ssh/e.md", "sub/.f.md", "drafts/gone.md", "a.md\udcff",
    ],
)  # fmt: skip
def test_every_other_name_is_refused_with_one_message(guard: PathGuard, name: str) -> None:
    with pytest.raises(PathRefused, match=r"^This path is not part of the index\.$"):
        guard.locate(name)


def test_the_absolute_path_of_a_note_is_refused(guard: PathGuard, workspace: Path) -> None:
    with pytest.raises(PathRefused):
        guard.locate(str(workspace / "a.md"))


@pytest.mark.parametrize("name", ["gone.md", "gone/too.md", "a.md/b.md", "A.md", "SUB/b.md"])
def test_missing_acceptable_name_distinguished(guard: PathGuard, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        guard.locate(name)


def test_path_in_other_unicode_form_is_not_found(workspace: Path, guard: PathGuard) -> None:
    decomposed = unicodedata.normalize("NFD", "Übung.md")
    (workspace / decomposed).write_text("x")
    assert guard.locate(decomposed) == workspace / decomposed
    with pytest.raises(FileNotFoundError):
        guard.locate(unicodedata.normalize("NFC", decomposed))


def test_only_the_memory_is_open_in_a_workspace_with_one(tmp_path: Path) -> None:
    for name in ("MEMORY.md", "AGENTS.md", "memory/x.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    guard = PathGuard(tmp_path, Settings())
    assert guard.locate("memory/x.md") == tmp_path / "memory" / "x.md"
    for refused in ("AGENTS.md", "MEMORY.md/x.md", "memory", "sub/x.md"):
        with pytest.raises(PathRefused):
            guard.locate(refused)
    with pytest.raises(FileNotFoundError):
        guard.locate("memory.md")


def test_a_root_that_became_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "x.md").write_text("x")
    guard = PathGuard(tmp_path / "notes", Settings(extra_paths=(str(extra),)))
    assert guard.locate("extra/x.md") == extra / "x.md"
    extra.rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError):
        guard.locate("extra/x.md")
    extra.symlink_to(tmp_path / "moved")
    with pytest.raises(PathRefused):
        guard.locate("extra/x.md")


def test_notes_of_a_workspace_that_vanished_are_missing(tmp_path: Path) -> None:
    guard = PathGuard(tmp_path / "gone", Settings())
    with pytest.raises(FileNotFoundError):
        guard.locate("a.md")
    with pytest.raises(PathRefused):
        guard.locate("../a.md")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_notes_of_unlistable_workspace_get_systems_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """Root may list any folder, so the system's refusal is imitated."""
    (tmp_path / "a.md").write_text("a")
    guard = PathGuard(tmp_path, Settings())

    def refuse(_path: object) -> None:
        raise error

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(type(error), match=error.strerror):
        guard.locate("a.md")
    with pytest.raises(PathRefused):
        guard.locate("../a.md")


_FOLDERS = ["a", "b", "memory", "node_modules", ".ssh", ".hidden", "ü", "u\u0308"]
_FILES = ["a.md", "A.MD", "MEMORY.md", "x.log", ".env", ".h.md", "ü.md", "u\u0308.md", "k.pem", "bad\\.md", "n\n.md"]
_paths = st.tuples(st.lists(st.sampled_from(_FOLDERS), max_size=2), st.sampled_from(_FILES)).map(
    lambda parts: "/".join([*parts[0], parts[1]])
)
_hostile = st.lists(
    st.sampled_from([*_FOLDERS, *_FILES, "..", ".", "", "\0", "\\", "outside.md", "link", "link.md", "out", "\udc80"]),
    min_size=1,
    max_size=5,
).map("/".join)
_settings = st.builds(
    Settings,
    include=st.lists(st.sampled_from(["a/**", "*.md", "**/b/*", "out/"]), max_size=2).map(tuple),
    exclude=st.lists(st.sampled_from(["b/", "ü.md", "/a/a.md", "**/*.MD"]), max_size=2).map(tuple),
    extensions=st.sampled_from([(".md",), (".md", ".log", ".pem", ".env")]),
    extra_paths=st.lists(st.sampled_from(["../out", "a", ".hidden", "link", "b/a.md", "."]), max_size=2).map(tuple),
)


@given(st.lists(_paths, max_size=8), st.lists(_hostile, max_size=8), _settings)
@settings(deadline=None, max_examples=100)
def test_guard_and_discovery_agree_on_every_name(tree: list[str], hostile: list[str], options: Settings) -> None:
    with TemporaryDirectory() as folder:
        workspace = _plant(Path(folder), tree)
        found = {file.name: file.path for file in discover(workspace, options).files}
        guard = PathGuard(workspace, options)
        outside = [f"out/{name}" for name in ("a.md", "b/c.md", "x.log")]
        for name in [*tree, *hostile, *outside, *found, *_all_names(workspace)]:
            if name in found:
                assert guard.locate(name) == Path(found[name])
            else:
                with pytest.raises((PathRefused, FileNotFoundError)):
                    guard.locate(name)


def _plant(folder: Path, tree: list[str]) -> Path:
    """Create a workspace with these files and links of each kind, and a folder next to it."""
    workspace = folder / "notes"
    for name in ["notes/a/a.md", "out/a.md", "out/b/c.md", "outside.md", *(f"notes/{name}" for name in tree)]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (workspace / "link").symlink_to(folder / "out")
    (workspace / "a" / "link.md").symlink_to(folder / "outside.md")
    return workspace


def _all_names(workspace: Path) -> Iterator[str]:
    for path in workspace.rglob("*"):
        yield str(path.relative_to(workspace))


def test_times_are_those_of_now_not_of_the_first_look(guard: PathGuard, workspace: Path) -> None:
    names = ["a.md", "sub/b.md"]
    assert None not in guard.times(names).values()
    os.utime(workspace / "a.md", (5, 5))
    (workspace / "sub" / "b.md").unlink()
    assert guard.times(names) == {"a.md": 5, "sub/b.md": None}
    (workspace / "MEMORY.md").write_text("x")  # now the workspace of an agent, with other files
    assert guard.times(["sub/b.md", "MEMORY.md"]).keys() == {"MEMORY.md"}
    workspace.rename(workspace.with_name("elsewhere"))
    assert guard.times(names) == {}
