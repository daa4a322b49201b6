"""Check the bundle and package built by `packaging/dev.py bundle` and `deb`, if they match the current sources.

They take minutes to build, so CI builds them in a separate step; these tests only inspect them.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.helpers.background import LONGEST_WAIT


@pytest.fixture
def bundle(load, monkeypatch):
    for name in ("environment", "debian", "qt_libraries", "icu_data", "proof"):
        load(name)
    bundle = load("bundle")
    try:
        made_of = json.loads(bundle.STAMP.read_text())["sources"]
    except OSError:
        pytest.skip("there is no bundle: run packaging/dev.py bundle")
    if made_of != bundle.digest_of_sources():
        pytest.skip("the bundle is outdated: run packaging/dev.py bundle")
    return bundle


def test_bundle_is_small_and_has_no_unneeded_qt_parts(bundle):
    assert bundle.size_of(bundle.FOLDER) <= bundle.MAX_BYTES
    names = {path.name for path in bundle.FOLDER.rglob("*")}
    assert "libqxcb.so" in names or sys.platform != "linux"
    unwanted = ("Quick", "Qml", "Pdf", "VirtualKeyboard", "virtualkeyboard", "gtk3")
    assert not [name for name in names if any(part in name for part in unwanted)]
    assert {name for name in names if name.endswith(".qm")} == {"qtbase_de.qm", "qtbase_en.qm"}
    assert not [path for path in bundle.FOLDER.rglob("*") if path.is_symlink() and not path.exists()]


def test_bundle_texts_name_no_build_folder(bundle):
    here = str(bundle.environment.ROOT)
    texts = [path for path in bundle.FOLDER.rglob("*") if path.suffix in {"", ".json", ".txt", ".1", ".desktop"}]
    naming_the_folder = [path for path in texts if path.is_file() and here.encode() in path.read_bytes()]
    assert naming_the_folder == []


def test_bill_of_materials_names_bundled_parts_and_licences(bundle):
    bill = json.loads(bundle.BILL.read_text("utf-8"))
    parts = {part["name"]: part for part in bill["components"]}
    assert bill["metadata"]["component"]["name"] == "mnemoscope"
    assert {"Python", "numpy", "apsw", "Universal Sentence Encoder, multilingual 3"} <= parts.keys()
    assert parts["Qt for Python (PySide6)"]["licenses"] == [{"license": {"id": "LGPL-3.0-only"}}]
    assert parts["numpy"]["purl"].startswith("pkg:pypi/numpy@")
    assert "pytest" not in parts
    packages = {part["purl"].split("/")[1].split("@")[0] for part in parts.values() if "purl" in part}
    described = [path.name.split("-")[0] for path in bundle.FOLDER.rglob("*.dist-info")]
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in described} == packages | {"mnemoscope"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has LD_LIBRARY_PATH")
def test_child_programs_get_no_bundle_environment(bundle, tmp_path):
    """Use a fake qmd that writes its environment to a file."""
    given = tmp_path / "given"
    program = tmp_path / "qmd"
    program.write_text(f'#!/bin/sh\nenv > "{given}"\nexit 1\n')
    program.chmod(0o755)
    config = tmp_path / "settings.toml"
    config.write_text(f'[defaults]\nbackend = "qmd"\n[defaults.qmd]\ncommand = "{program}"\n')
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("irrigation timer")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/opt/mine"}
    command = [bundle.FOLDER / "mnemoscope", "search", "timer", "--workspace", notes, "--config", config]
    subprocess.run(command, env=environ, capture_output=True, check=False, timeout=LONGEST_WAIT)
    environment = dict(line.split("=", 1) for line in given.read_text().splitlines() if "=" in line)
    assert environment.get("LD_LIBRARY_PATH", "/opt/mine") == "/opt/mine"
    assert "QT_PLUGIN_PATH" not in environment


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg is not installed here")
def test_package_depends_on_system_libraries_without_bundling(bundle):
    package = next(iter(bundle.DIST.glob("mnemoscope_*.deb")), None)
    if package is None or package.stat().st_mtime < bundle.STAMP.stat().st_mtime:
        pytest.skip("there is no package: run packaging/dev.py deb")
    depends = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
    assert {"libc6", "libegl1", "libxcb-cursor0", "libssl3"} <= {part.split()[0] for part in depends.split(", ")}
    listed = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
    assert "libxcb-cursor.so.0" not in listed
    for path in (
        "./usr/share/applications/mnemoscope.desktop",
        "./usr/share/icons/hicolor/scalable/apps/mnemoscope.svg",
        "./usr/share/man/man1/mnemoscope.1.gz",
        "./usr/share/doc/mnemoscope/copyright",
        "./usr/bin/mnemoscope -> ../lib/mnemoscope/mnemoscope",
    ):
        assert path in listed
