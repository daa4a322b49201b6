#!/usr/bin/env python3
"""Retake the pictures of the README and of `pictures/README.md`: .venv/bin/python packaging/take_pictures.py [NAME …]

Takes every view with the samples, some views empty too, all in both themes; a few in German and in high contrast. The
Chinese, Japanese and Korean sample notes need a font with their characters (Debian: fonts-noto-cjk). The pictures use
their own settings and index, so they contain no personal data.

With `--looks FOLDER [NAME …]` it takes each view in each appearance, to review changes of the appearance: every theme,
display and text at twice their size, small text, German, right to left.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence, Set
from pathlib import Path
from typing import NamedTuple

import environment
import qt_libraries

sys.path.insert(0, str(environment.ROOT))
from gui.core.view_spec import view_specs
from tests.helpers.agent_databases import DATABASES

PICTURES = environment.ROOT / "packaging" / "pictures"
THEMES = ("light", "dark")
FULL = {
    "search": ["--view", "search", "--query", "irrigation timer"],
    "explanation": ["--view", "explanation", "--query", "irrigation timer"],
    "chunks": ["--view", "chunks", "--query", "irrigation"],
    "sessions": ["--view", "sessions"],
    "remember": ["--view", "remember"],
    "session": ["--view", "viewer", "--query", "rehearsal on a stale replica"],
    "index": ["--view", "index", "--query", "irrigation timer"],
    "map": ["--view", "map", "--query", "irrigation timer"],
    "duplicates": ["--view", "duplicates"],
    "health": ["--view", "health"],
    "facts": ["--view", "facts"],
    "diagnostics": ["--view", "diagnostics", "--query", "insomnia"],
    "settings": ["--view", "settings"],
    **{
        f"settings-{page}": ["--view", f"settings-{page}"]
        for page in ("found", "sources", "search", "appearance", "keyboard", "privacy")
    },
    "licences": ["--view", "licences"],
    "engine": ["--view", "engine"],
    "palette": ["--view", "palette", "--query", "irrigation timer"],
    "keys": ["--view", "keys"],
    "quick": ["--view", "quick", "--query", "irrigation timer"],
    "guide": ["--view", "guide"],
    "workspaces": ["--view", "workspaces"],
    "everywhere": ["--view", "all-workspaces", "--query", "cabbage with salt"],
}
_SHOWN = {view for _, view, *_ in FULL.values()}
FULL |= {view: ["--view", view] for spec in view_specs() for view in spec.command_line if view not in _SHOWN}
TEN_AGENTS = {"sessions-agents": ["--view", "sessions"]}
FIXTURES = environment.ROOT / "tests" / "engine" / "corpus" / "transcripts" / "fixtures"
AGENTS = (
    "aider",
    "amp",
    "cline",
    "codex",
    "continue",
    "copilot_chat",
    "copilot_cli",
    "cursor_cli",
    "gemini",
    "iflow",
    "kimi",
    "qwen",
)
"""Folders with sessions of ten agents and more: the hand-written ones of the tests."""
WITH_DATABASE = ("cursor", "zed", "goose", "crush")
"""Agents with a database; the pictures use the newest hand-written one."""
ONE_AGENT = {
    f"agent-{agent.replace('_', '-')}": agent
    for agent in "copilot_chat cursor cursor_cli cline copilot_cli aider qwen zed goose amp".split()
}
"""Agent of each picture that shows the sessions of only one."""
SEVERAL = {
    "garden": ("projects", "topics"),
    "kitchen": ("recipes",),
    "work": ("work",),
    "old/garden": ("cards",),
}
"""Workspaces for the pictures that show several, with the sample folders in each; the first is open."""
NOTHING_FOUND = {"answer-empty": ["--view", "explanation", "--query", "irrigation tag:travel"]}
_FULL_WIDTH = [view for spec in view_specs() if spec.full_width for view in spec.command_line]
EMPTY = {f"{view}-empty": ["--view", view] for view in ("search", *_FULL_WIDTH)}
"""Views of a folder without notes."""

OTHER_LOOKS = {
    "search-german": [*FULL["search"], "--theme", "light"],
    "settings-appearance-german": [*FULL["settings-appearance"], "--theme", "light"],
    "search-high-contrast-dark": [*FULL["search"], "--theme", "high-contrast-dark"],
    **{name: ["--view", "sessions", "--theme", "light"] for name in ONE_AGENT},
}
"""Pictures in one variant only, with their complete arguments."""


class Look(NamedTuple):
    """An appearance in which a view is drawn."""

    arguments: tuple[str, ...] = ("--theme", "light")
    settings: str = ""
    """Additional lines of the settings file."""
    display: str = "1"
    """Scale factor of the display."""


LOOKS = {
    "light": Look(),
    "dark": Look(("--theme", "dark")),
    "high-contrast-light": Look(("--theme", "high-contrast-light")),
    "high-contrast-dark": Look(("--theme", "high-contrast-dark")),
    "display-200": Look(display="2"),
    "text-200": Look(settings="window.font_scale = 2.0\n"),
    "text-80-dark": Look(("--theme", "dark"), "window.font_scale = 0.8\n"),
    "german": Look(("--theme", "light", "--language", "de")),
    "german-text-200": Look(("--theme", "light", "--language", "de"), "window.font_scale = 2.0\n"),
    "right-to-left": Look(("--theme", "light", "--language", "ar-XB")),
}
ALL = {
    **FULL,
    **TEN_AGENTS,
    **NOTHING_FOUND,
    **EMPTY,
    **{view: ["--view", view] for view in ("first-run", "about", "crash")},
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Takes the pictures of the views.")
    parser.add_argument("--looks", type=Path, metavar="FOLDER", help="take the views there, each in every look")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    options = parser.parse_args()
    names = set(options.names)
    unknown = names - (ALL.keys() if options.looks else {*FULL, *TEN_AGENTS, *NOTHING_FOUND, *EMPTY, *OTHER_LOOKS})
    if unknown:
        parser.error(f"There is no picture {', '.join(sorted(unknown))}.")
    qt_libraries.ensure(qt_libraries.for_window())
    environment.WORK.ensure(environment.RUN_LOCK)
    with tempfile.TemporaryDirectory(prefix="mnemoscope-pictures-") as scratch:
        if options.looks:
            _take_all_looks(options.looks, names or ALL.keys(), Path(scratch))
        else:
            _take_for_documents(names, Path(scratch))
    return 0


def _take_for_documents(names: Set[str], scratch: Path) -> None:
    """Take the pictures that the documents show."""
    for name, view in {**FULL, **TEN_AGENTS, **NOTHING_FOUND, **EMPTY}.items():
        if not names or name in names:
            for theme in THEMES:
                _take(PICTURES / f"{name}-{theme}.png", [*view, *_folder_options(name, scratch), "--theme", theme])
    for name, look in OTHER_LOOKS.items():
        if not names or name in names:
            _take(PICTURES / f"{name}.png", [*look, *_folder_options(name, scratch)])


def _take_all_looks(folder: Path, names: Set[str], scratch: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for look, drawn in LOOKS.items():
            folder_options = _folder_options(name, scratch, drawn.settings)
            _take(folder / f"{name}-{look}.png", [*ALL[name], *folder_options, *drawn.arguments], drawn.display)


def _folder_options(name: str, scratch: Path, more: str = "") -> list[str]:
    """Return the arguments for workspace and settings; `more` is added to the defaults of the settings."""
    settings, folder = scratch / f"{name}.toml", scratch / "empty-folder"
    if name in EMPTY:
        folder.mkdir(exist_ok=True)
        settings.write_text(f"[defaults]\n{more}store.path = '{scratch}'\n")
        return ["--workspace", str(folder), "--config", str(settings)]
    if name in TEN_AGENTS or name in ONE_AGENT:
        return _with_sessions(
            scratch, settings, (ONE_AGENT[name],) if name in ONE_AGENT else AGENTS + WITH_DATABASE, more
        )
    if name in ("workspaces", "everywhere"):
        return _several(scratch, settings, more)
    # With a paid service selected, the model page also shows its price.
    chosen = 'provider = "openai"\n' if name == "settings" else ""
    if name.endswith("-german"):
        chosen = 'window.language = "de"\n'
    settings.write_text(f"[defaults]\n{more}{chosen}")
    return ["--demo", "--config", str(settings)]


def _with_sessions(scratch: Path, settings: Path, agents: Sequence[str], more: str) -> list[str]:
    """Return the arguments for a folder without notes, with the hand-written sessions of these agents."""
    newest = {database.name.partition(":")[0]: database for database in DATABASES}
    databases = {agent: scratch / agent / newest[agent].path for agent in agents if agent in WITH_DATABASE}
    for agent, database in databases.items():
        if not database.exists():
            newest[agent].write(scratch / agent)
    listed = [str(databases.get(agent, FIXTURES / agent)) for agent in agents]
    folder = scratch / settings.stem
    folder.mkdir(exist_ok=True)
    # Each folder has an index of its own: sessions belong to the workspace that indexes them first.
    store = scratch / f"{settings.stem}-index"
    settings.write_text(f"[defaults]\n{more}store.path = '{store}'\nsessions.folders = {listed}\n")
    return ["--workspace", str(folder), "--config", str(settings)]


def _several(scratch: Path, settings: Path, more: str) -> list[str]:
    """Return the arguments for several workspaces: some indexed, one without an index, one with its folder missing."""
    home = scratch / "notes"
    tables = [f"[workspace.'{home / name}']\n" for name in ("diary", "club")]
    settings.write_text("".join([f"[defaults]\n{more}store.path = '{scratch / 'several'}'\n", *tables]))
    if not home.exists():
        for name, folders in SEVERAL.items():
            for folder in folders:
                shutil.copytree(environment.ROOT / "resources" / "sample" / folder, home / name / folder)
        (home / "diary").mkdir()
    for name in reversed(SEVERAL):
        indexing = ["index", "--workspace", str(home / name), "--config", str(settings)]
        subprocess.run([str(environment.WORK.program("mnemoscope")), *indexing], check=True, stdout=subprocess.DEVNULL)
    return ["--workspace", str(home / "garden"), "--config", str(settings)]


_SIZES = {"sessions-agents": "1280x1720", "agent-": "1000x500"}
"""Sizes of some pictures, by the beginning of their names."""


def _take(picture: Path, arguments: list[str], display: str = "1") -> None:
    command = [
        str(environment.WORK.program("mnemoscope")),
        *arguments,
        "--size",
        next((size for name, size in _SIZES.items() if picture.stem.startswith(name)), "1280x800"),
        "--screenshot",
        str(picture),
    ]
    drawn = {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": display}
    subprocess.run(command, env={**os.environ, **drawn}, check=True)
    print(picture.name)


if __name__ == "__main__":
    sys.exit(main())
