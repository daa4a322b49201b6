"""The list of components of the installation that runs the tests, and of made-up ones."""

import json
import sys

from gui.help.licences import BUNDLED_LIST, read_components

PACKAGE = """\
Metadata-Version: 2.4
Name: {name}
Version: 1.5
Summary: For a test.
{more}
"""


def install(folder, name, *lines, **texts):
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir(parents=True)
    more = [*lines, *(f"License-File: {text}" for text in texts)]
    (info / "METADATA").write_text(PACKAGE.format(name=name, more="\n".join(more)))
    for text, words in texts.items():
        (info / "licenses").mkdir(exist_ok=True)
        (info / "licenses" / text).write_text(words)


def bundled(folder, *rows):
    (folder / BUNDLED_LIST).parent.mkdir(parents=True)
    (folder / BUNDLED_LIST).write_text(json.dumps(rows))
    return folder


def by_name(components):
    return {component.name: component for component in components}


def test_installation_lists_components_with_licence_texts():
    found = by_name(read_components())
    qt = found["Qt for Python (PySide6)"]
    assert qt.licence == "LGPL-3.0-only"
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in qt.texts[0]
    assert "GNU GENERAL PUBLIC LICENSE" in qt.texts[1]
    model = found["Universal Sentence Encoder, multilingual 3"]
    assert "Apache License" in model.texts[0]
    assert found["Python"].version == ".".join(map(str, sys.version_info[:3]))
    assert len(found["numpy"].texts) > 1  # its own, and those of its components
    assert "Permission is hereby granted" in found["sqlite-vec"].texts[0]


def test_dependencies_are_listed_without_test_tools():
    packages = {component.package for component in read_components()}
    assert {"mnemoscope", "openai", "pydantic", "threadpoolctl", "shiboken6"} <= packages
    assert {"pytest", "ruff", "mypy", "hypothesis", "moto"}.isdisjoint(packages)


def test_installed_extras_are_followed(tmp_path):
    install(
        tmp_path,
        "mnemoscope",
        "Provides-Extra: dev",
        "Provides-Extra: more",
        "Requires-Dist: Fast_Words[speed]>=1; python_version > '3'",
        "Requires-Dist: only-with-more; extra == 'more'",
        "Requires-Dist: a-tool; extra == 'dev'",
        "Requires-Dist: absent",
    )
    install(tmp_path, "fast.words", "Provides-Extra: speed", "Requires-Dist: speedy; extra == 'speed'")
    install(tmp_path, "speedy", "Requires-Dist: fast-words; extra == 'unasked'")
    for name in ("only-with-more", "a-tool", "a-stranger"):
        install(tmp_path, name)
    bundled(tmp_path)
    names = [component.name for component in read_components(tmp_path)]
    assert names == ["fast.words", "mnemoscope", "only-with-more", "speedy"]


def test_licence_comes_from_package_metadata(tmp_path):
    requires = [f"Requires-Dist: {name}" for name in ("modern", "old", "filed", "silent")]
    install(tmp_path, "mnemoscope", *requires)
    install(tmp_path, "modern", "License-Expression: MIT OR Apache-2.0", LICENSE="one", NOTICE="two")
    install(tmp_path, "old", "License: BSD")
    install(tmp_path, "filed", "Classifier: License :: OSI Approved :: MIT License")
    install(tmp_path, "silent")
    bundled(tmp_path)
    found = by_name(read_components(tmp_path))
    assert found["modern"].licence == "MIT OR Apache-2.0"
    assert found["modern"].texts == ("one", "two")
    assert found["old"].licence == "BSD"
    assert found["filed"].licence == "MIT License"
    assert (found["silent"].licence, found["silent"].texts) == ("licence not stated", ())


def test_only_present_bundle_libraries_are_listed(tmp_path):
    row = {"version": "1", "licence": "MIT", "about": "", "text": "licences/x.txt"}
    bundled(
        tmp_path,
        {**row, "name": "libhere", "files": ["libhere.so.1", "libhere2.so.1"]},
        {**row, "name": "libgone", "files": ["libgone.so.1"]},
        {**row, "name": "Python", "files": []},
    )
    (tmp_path / "licences" / "x.txt").write_text("words")
    (tmp_path / "libhere2.so.1").touch()
    found = by_name(read_components(tmp_path))
    assert list(found) == ["libhere", "Python"]
    assert found["libhere"].texts == ("words",)


def test_bundle_reads_its_own_list(tmp_path, monkeypatch):
    row = {"name": "libhere", "version": "1", "licence": "MIT", "about": "", "text": "licences/x.txt", "files": []}
    bundled(tmp_path, row)
    (tmp_path / "licences" / "x.txt").write_text("words")
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    names = [component.name for component in read_components()]
    assert "libhere" in names
    assert "Python" not in names  # the list of a bundle contains its own Python
