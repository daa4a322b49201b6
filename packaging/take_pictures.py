#!/usr/bin/env python3
"""Takes the pictures of the README and of `pictures/README.md` anew: python3 packaging/take_pictures.py [NAME …]

Every view with the samples, and those of the index, of facts and of an answer empty too, in both themes; a few in
German and in high contrast. The sample notes in Chinese, Japanese and Korean need a font with their letters (Debian:
fonts-noto-cjk). Nothing of the person who takes them is in the pictures: settings and index are of their own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import environment
import qt_libraries

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
    "everywhere": ["--view", "everywhere", "--query", "cabbage with salt"],
}
SEVERAL = {
    "garden": ("projects", "topics"),
    "kitchen": ("recipes",),
    "work": ("work",),
    "old/garden": ("cards",),
}
"""Workspaces of the pictures that need some, with the folders of the samples that are in each; the first is open."""
NOTHING_FOUND = {"answer-empty": ["--view", "explanation", "--query", "irrigation tag:travel"]}
EMPTY = {f"{view}-empty": ["--view", view] for view in ("search", "index", "map", "duplicates", "health", "facts")}
"""Of a folder without notes."""

OTHER_LOOKS = {
    "search-german": [*FULL["search"], "--theme", "light"],
    "settings-appearance-german": [*FULL["settings-appearance"], "--theme", "light"],
    "search-high-contrast-dark": [*FULL["search"], "--theme", "high-contrast-dark"],
}
"""One picture each, with all that the others have in common."""


def main(names: list[str]) -> int:
    unknown = set(names) - {*FULL, *NOTHING_FOUND, *EMPTY, *OTHER_LOOKS}
    if unknown:
        print(f"There is no picture {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    qt_libraries.ensure(qt_libraries.for_window())
    environment.WORK.ensure(environment.RUN_LOCK)
    with tempfile.TemporaryDirectory(prefix="mnemoscope-pictures-") as scratch:
        for name, view in {**FULL, **NOTHING_FOUND, **EMPTY}.items():
            if not names or name in names:
                for theme in THEMES:
                    place = _place(name, Path(scratch))
                    _take(PICTURES / f"{name}-{theme}.png", [*view, *place, "--theme", theme])
        for name, look in OTHER_LOOKS.items():
            if not names or name in names:
                _take(PICTURES / f"{name}.png", [*look, *_place(name, Path(scratch))])
    return 0


def _place(name: str, scratch: Path) -> list[str]:
    """What is opened, and with which settings."""
    settings, folder = scratch / f"{name}.toml", scratch / "empty-folder"
    if name in EMPTY:
        folder.mkdir(exist_ok=True)
        settings.write_text(f"[defaults.store]\npath = '{scratch}'\n")
        return ["--workspace", str(folder), "--config", str(settings)]
    if name in ("workspaces", "everywhere"):
        return _several(scratch, settings)
    # The page of the model shows what there is to decide: a service and its price.
    chosen = 'provider = "openai"\n' if name == "settings" else ""
    if name.endswith("-german"):
        chosen = 'window.language = "de"\n'
    settings.write_text(f"[defaults]\n{chosen}")
    return ["--demo", "--config", str(settings)]


def _several(scratch: Path, settings: Path) -> list[str]:
    """Some workspaces with an index, one that has none yet, and one whose folder is away."""
    home = scratch / "notes"
    tables = [f"[workspace.'{home / name}']\n" for name in ("diary", "club")]
    settings.write_text("".join([f"[defaults.store]\npath = '{scratch / 'several'}'\n", *tables]))
    if not home.exists():
        for name, folders in SEVERAL.items():
            for folder in folders:
                shutil.copytree(environment.ROOT / "resources" / "sample" / folder, home / name / folder)
        (home / "diary").mkdir()
    for name in reversed(SEVERAL):
        indexing = ["index", "--workspace", str(home / name), "--config", str(settings)]
        subprocess.run([str(environment.WORK.program("mnemoscope")), *indexing], check=True, stdout=subprocess.DEVNULL)
    return ["--workspace", str(home / "garden"), "--config", str(settings)]


def _take(picture: Path, arguments: list[str]) -> None:
    command = [
        str(environment.WORK.program("mnemoscope")),
        *arguments,
        "--size",
        "1280x800",
        "--screenshot",
        str(picture),
    ]
    subprocess.run(command, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, check=True)
    print(picture.name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
