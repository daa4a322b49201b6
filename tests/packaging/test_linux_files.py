"""Test the desktop entry, description, icons and recipes for Linux desktops."""

import configparser
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "packaging" / "linux"
ENTRY = LINUX / "mnemoscope.desktop"
(DESCRIPTION,) = LINUX.glob("*.metainfo.xml")


def need(tool: str) -> str:
    return shutil.which(tool) or pytest.skip(f"{tool} is not installed here")


def test_desktop_entry_is_valid_and_opens_links():
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(ENTRY, "utf-8")
    fields = entry["Desktop Entry"]
    assert fields["MimeType"] == "x-scheme-handler/mnemoscope;"
    assert fields["Exec"] == "mnemoscope %u"
    app = (ROOT / "gui" / "app" / "application.py").read_text("utf-8")
    assert f'setDesktopFileName("{ENTRY.stem}")' in app  # or no taskbar finds the icon
    subprocess.run([need("desktop-file-validate"), ENTRY], check=True)


def test_metainfo_is_valid_and_has_current_version():
    description = ElementTree.parse(DESCRIPTION).getroot()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert description.findtext("id") == DESCRIPTION.name.removesuffix(".metainfo.xml")
    assert description.findtext("launchable") == ENTRY.name
    assert description.findtext("project_license") == project["license"]
    assert description.find("releases/release").get("version") == project["version"]
    subprocess.run([need("appstreamcli"), "validate", "--no-net", DESCRIPTION], check=True)


def test_recipes_have_current_version_and_valid_scripts():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipes = ROOT / "packaging" / "recipes"
    installer = (recipes / "windows" / "mnemoscope.iss").read_text("utf-8")
    assert f'#define Version "{project["version"]}"' in installer
    for script in recipes.rglob("*.sh"):
        subprocess.run(["bash", "-n", script], check=True)
        assert "ried:" in script.read_text("utf-8")  # `Tried:` or `Untried:` lists the steps that were run
    flatpak = next((recipes / "flatpak").iterdir()).read_text("utf-8")
    assert f"app-id: {DESCRIPTION.name.removesuffix('.metainfo.xml')}\n" in flatpak


def test_icon_is_drawn_in_every_size(load, tmp_path, qapp):
    icons = load("building/icons")
    icons.draw_icons(tmp_path)
    from PySide6.QtGui import QImage

    for size in icons.SIZES:
        image = QImage(str(tmp_path / "hicolor" / f"{size}x{size}" / "apps" / "mnemoscope.png"))
        assert (image.width(), image.height()) == (size, size)
        assert image.pixelColor(0, 0).alpha() == 0  # a round corner
        assert image.pixelColor(size // 2, round(size * 0.15)).name() == "#3b5bdb"
    assert (tmp_path / "hicolor" / "scalable" / "apps" / "mnemoscope.svg").is_file()
    assert QImage(str(tmp_path / "mnemoscope.ico")).width() == 256
    assert (tmp_path / "mnemoscope.icns").read_bytes()[:4] == b"icns"


def test_packaging_contains_no_local_path():
    for path in (ROOT / "packaging").rglob("*"):
        if path.suffix in {".py", ".spec", ".sh", ".yml", ".iss", ".xml", ".desktop", ".md"}:
            assert not re.search(r"/(?:home|root|Users)/\w", path.read_text("utf-8")), path
