"""Links between notes in the index: resolution, backlinks, and the operators `links:` and `backlinks:`.

The notes are written from the help of Obsidian ("Internal links", "Aliases", "Embed files") and of Logseq.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.corpus.discovery import READABLE_EXTENSIONS
from engine.memory.index_inspection import IndexInsight
from engine.settings import Settings
from engine.settings.options import StoreSettings
from tests.helpers.document_files import docx, epub, odt, pdf, word_paragraph
from tests.helpers.fake_provider import FakeProvider, selection_of

BLOCK = "60ab6f5b-4bdc-4ef0-a0f8-6cad9dcad2b2"
NOTES = {
    "Home.md": "Read [[garden]] first. Then [[Doggo|the dog]] or [[Missing page]].\n\n![[Garden#Beds]]\n",
    "Garden.md": "# Garden\n\nIntro with [a link](animals/Dog.md).\n\n## Beds\n\nCarrots.\n\n"
    "## Tools\n\nSpade. ^tool\n",
    "animals/Dog.md": "---\naliases:\n  - Doggo\n---\n# Dog\n\n"
    "Barks at [[Garden]]. Not in [[animals/Garden|this one]].\n",
    "animals/Garden.md": "Another garden.\n",
    "pages/Plan___Spring.md": f"tags:: motor, steering wheel\n\n- Sow\n  id:: {BLOCK}\n\t- See (({BLOCK})).\n"
    "\n- Reap\n",
    "Shopping.md": "- shop\n  - bread ^food\n    - rye\n\n  - soap\n",
    "journals/2024_05_08.md": f"- Did (({BLOCK})) of [[Plan/Spring]]\n",
    "Diary.md": "On [[May 8th, 2024]] it rained.\n",
}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BuiltinMemory]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    for name, text in NOTES.items():
        file = tmp_path / "notes" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    settings = Settings(store=StoreSettings(path=str(tmp_path / "data")))
    found = BuiltinMemory(tmp_path / "notes", settings, executor=None, background=False)
    found.sync()
    yield found
    found.close()


def insight(memory: BuiltinMemory) -> IndexInsight:
    assert memory.insight is not None
    return memory.insight


def paths(memory: BuiltinMemory, query: str) -> list[str]:
    return sorted({result.path for result in memory.search(query, max_results=20, min_score=0).results})


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("links:Garden", ["Home.md", "animals/Dog.md"]),
        ("links:animals/Garden", ["animals/Dog.md"]),
        ("links:doggo", ["Garden.md", "Home.md"]),
        ("links:Plan/Spring", ["journals/2024_05_08.md"]),
        ("links:2024-05-08", ["Diary.md"]),
        ("links:nothing", []),
        ("backlinks:Home", ["Garden.md", "animals/Dog.md"]),
        ('backlinks:"May 8th, 2024"', ["pages/Plan___Spring.md"]),
        ("links:doggo -links:Garden", ["Garden.md"]),
    ],
)
def test_operator_finds_notes_at_the_other_end(memory: BuiltinMemory, query: str, expected: list[str]) -> None:
    assert paths(memory, query) == expected


def test_operator_values_are_titles(memory: BuiltinMemory) -> None:
    assert "Dog" in memory.query_values("links", "do")
    assert "backlinks:" in memory.query_values("", "backl")


def test_note_links_have_the_sentence_around(memory: BuiltinMemory) -> None:
    found = insight(memory).note_links("animals/Dog.md")
    assert [(link.path, link.line, link.context) for link in found.backlinks] == [
        ("Garden.md", 3, "Intro with a link."),
        ("Home.md", 1, "Then the dog or Missing page."),
    ]
    assert [(link.path, link.title) for link in found.links] == [
        ("Garden.md", "Garden"),
        ("animals/Garden.md", "Garden"),
    ]


def test_note_links_to_missing_note_have_no_path(memory: BuiltinMemory) -> None:
    links = insight(memory).note_links("Home.md").links
    assert [(link.path, link.title, link.anchor) for link in links] == [
        ("Garden.md", "Garden", ""),
        ("animals/Dog.md", "Dog", ""),
        ("", "Missing page", ""),
        ("Garden.md", "Garden", "Beds"),
    ]


def test_note_links_of_unknown_note_are_empty(memory: BuiltinMemory) -> None:
    found = insight(memory).note_links("nowhere.md")
    assert (found.backlinks, found.links) == ((), ())


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (("Garden", "Beds", "Home.md"), ("Garden.md", 5, "## Beds\n\nCarrots.\n")),
        (("Garden", "^tool", "Home.md"), ("Garden.md", 11, "Spade. ^tool")),
        (("Garden", "Gone", "Home.md"), ("Garden.md", 1, NOTES["Garden.md"].rstrip("\n"))),
        (("", "Tools", "Garden.md"), ("Garden.md", 9, "## Tools\n\nSpade. ^tool")),
        (
            (BLOCK, "", "journals/2024_05_08.md"),
            ("pages/Plan___Spring.md", 3, f"- Sow\n  id:: {BLOCK}\n\t- See (({BLOCK}))."),
        ),
        (("Shopping", "^food", "Home.md"), ("Shopping.md", 2, "  - bread ^food\n    - rye")),
        (("Doggo", "", "Home.md"), ("animals/Dog.md", 1, "# Dog\n\nBarks")),
        (("Doggo", "Gone", "Home.md"), ("animals/Dog.md", 1, "# Dog\n\nBarks")),
        (("Plan/Spring", "", "Home.md"), ("pages/Plan___Spring.md", 1, "\n- Sow")),
    ],
)
def test_linked_text_is_section_or_block(
    memory: BuiltinMemory, link: tuple[str, str, str], expected: tuple[str, int, str]
) -> None:
    found = insight(memory).linked_text(*link)
    assert found is not None
    path, line, text = expected
    assert (found.path, found.line) == (path, line)
    assert found.text == text if link[0] in (BLOCK, "Shopping") else found.text.startswith(text)


def test_linked_text_reports_missing_anchor(memory: BuiltinMemory) -> None:
    found, missing = (insight(memory).linked_text("", anchor, "Garden.md") for anchor in ("Garden", "Gone"))
    assert found is not None
    assert missing is not None
    assert (found.line, found.anchored) == (1, True)
    assert (missing.line, missing.anchored) == (1, False)


def test_linked_text_reports_cut(memory: BuiltinMemory, tmp_path: Path) -> None:
    front = "---\ntags: [a]\n---\n"
    (tmp_path / "notes" / "Whole.md").write_text(front + "line\n" * 39 + "line")
    (tmp_path / "notes" / "Long.md").write_text(front + "line\n" * 40 + "line")
    memory.sync()
    whole, long = (insight(memory).linked_text(name, "", "Home.md") for name in ("Whole", "Long"))
    assert whole is not None
    assert long is not None
    assert (whole.text, whole.cut) == ("\n".join(["line"] * 40), False)
    assert (long.text, long.cut) == ("\n".join(["line"] * 40), True)


def test_linked_text_of_missing_note_is_none(memory: BuiltinMemory) -> None:
    assert insight(memory).linked_text("Missing page", "", "Home.md") is None
    assert insight(memory).linked_text("../../etc/passwd", "", "Home.md") is None


def test_link_finds_the_note_of_its_own_vault(open_memory, workspace: Path) -> None:
    for name in ("a/Settings.md", "b/long folder/Settings.md", "b/deep/Home.md", "a/x/Home.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("See [[Settings]].\n")
    memory = open_memory()
    memory.sync()
    for home, path in (("b/deep/Home.md", "b/long folder/Settings.md"), ("a/x/Home.md", "a/Settings.md")):
        found = insight(memory).linked_text("Settings", "", home)
        assert found is not None
        assert found.path == path


def test_links_in_org_files_find_their_notes(open_memory, workspace: Path) -> None:
    texts = {
        "journals/2024_05_08.org": "* Did quagga work on [[Page B]]\n",
        "pages/pagea.org": "#+title: Page A\n\n* see [[Page B]] and [[file:pageb.org][B]] and [[id:abcd][c]]\n",
        "pages/pageb.org": "#+title: Page B\n\nbody on [[May 8th, 2024]] of [[C]]\n",
        "pages/C.org": "Text\n* one\n:PROPERTIES:\n:id: abcd\n:END:\n",
        "pages/C.md": "[[pagea]] and [[C.org]]\n",
    }
    for name, text in texts.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text)
    memory = open_memory(use=None)
    assert memory.sync().failed == ()
    to = {name: [link.path for link in insight(memory).note_links(name).links] for name in texts}
    assert to == {
        "journals/2024_05_08.org": ["pages/pageb.org"],
        "pages/pagea.org": ["pages/pageb.org", "pages/pageb.org", "pages/C.org"],
        "pages/pageb.org": ["journals/2024_05_08.org", "pages/C.md"],
        "pages/C.org": [],
        "pages/C.md": ["pages/pagea.org", "pages/C.org"],
    }
    [found] = memory.search("quagga", min_score=0.01).results
    assert found.title == "2024-05-08"
    heading = insight(memory).linked_text("pages/C.org", "one", "pages/pagea.org")
    assert heading is not None
    assert (heading.path, heading.line) == ("pages/C.org", 2)


def test_links_by_id_find_exported_notes(open_memory, workspace: Path) -> None:
    joplin = "0123456789abcdef0123456789abcdef"
    texts = {
        "zk/202405011230 Wall.md": f"See [a](:/{joplin}).\n",
        f"joplin/{joplin}.md": "Sea\n\nSee [[202405011230]].\n\nid: 1\ntype_: 1",
        "denote/20240501T123000--wall__sea.org": "text\n",
        "denote/other.org": "[[denote:20240501T123000][wall]]\n",
    }
    for name, text in texts.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text)
    memory = open_memory(use=None)
    assert memory.sync().failed == ()
    to = {name: [link.path for link in insight(memory).note_links(name).links] for name in texts}
    wall, sea, denote, other = texts
    assert to == {wall: [sea], sea: [wall], denote: [], other: [denote]}
    assert [link.title for link in insight(memory).note_links(wall).backlinks] == ["Sea"]


def test_links_find_documents_and_canvases(open_memory, workspace: Path) -> None:
    (workspace / "Hub.md").write_text(
        "[[Herds.pdf#page=2]] [[docs/Plan.docx]] [b](docs/Plan.docx) [[Log.odt]] [[Book.epub]] [[Zoo.html#Pens]]\n"
        "[[Board.canvas]] [[Lab.ipynb]]\n"
    )
    (workspace / "docs").mkdir()
    (workspace / "Herds.pdf").write_bytes(pdf([["Intro"], ["A quagga grazes"], ["End"]]))
    (workspace / "docs" / "Plan.docx").write_bytes(docx(word_paragraph("Count")))
    (workspace / "Log.odt").write_bytes(odt("<text:p>One</text:p>"))
    (workspace / "Book.epub").write_bytes(epub({"One": "<p>Slept.</p>"}))
    (workspace / "Zoo.html").write_bytes(b"<h2>Lions</h2><p>None</p><h2>Pens</h2><p>Two")
    (workspace / "Board.canvas").write_text(
        '{"nodes": [{"id": "a", "type": "text", "text": "See [[Hub]]", "x": 0, "y": 0, "width": 9, "height": 9}]}'
    )
    (workspace / "Lab.ipynb").write_text('{"cells": [], "nbformat": 4, "metadata": {}}')
    memory = open_memory(use=None, extensions=READABLE_EXTENSIONS)
    assert memory.sync().failed == ()
    found = insight(memory).note_links("Hub.md")
    assert [link.path for link in found.links] == [
        "Herds.pdf",
        "docs/Plan.docx",
        "docs/Plan.docx",
        "Log.odt",
        "Book.epub",
        "Zoo.html",
        "Board.canvas",
        "Lab.ipynb",
    ]
    assert [link.path for link in found.backlinks] == ["Board.canvas"]
    page = insight(memory).linked_text("Herds.pdf", "page=2", "Hub.md")
    assert page is not None
    assert page.text.startswith("# Page 2\n")
    assert "quagga" in page.text
    assert "End" not in page.text
    pens = insight(memory).linked_text("Zoo.html", "Pens", "Hub.md")
    assert pens is not None
    assert pens.text.startswith("## Pens")
    assert insight(memory).linked_text("Herds.pdf", "", "Hub.md") is not None


@pytest.mark.parametrize(
    ("target", "anchor", "line"),
    [("ref=own", "", 7), ("Hub.rst", "sub", 10), ("Plan.org", "goal", 3), ("Docs.adoc", "_sub", 3), ("ref=no", "", 0)],
)
def test_linked_text_of_each_format_is_its_section(
    open_memory, workspace: Path, target: str, anchor: str, line: int
) -> None:
    (workspace / "Hub.rst").write_text("Hub\n===\n\n.. _own:\n.. _`Of it`:\n\nPart\n----\n\nSub\n~~~\n")
    (workspace / "Plan.org").write_text("#+title: Plan\n\n* Goal\ntext\n")
    (workspace / "Docs.adoc").write_text("= Docs\n\n== Sub\n")
    (workspace / "Home.rst").write_text("See :ref:`own`.\n")
    memory = open_memory(use=None)
    memory.sync()
    found = insight(memory).linked_text(target, anchor, "Home.rst")
    assert (found.line if found else 0) == line
    assert [link.path for link in insight(memory).note_links("Hub.rst").backlinks] == ["Home.rst"]


def test_linked_text_of_damaged_document_is_the_document(open_memory, workspace: Path) -> None:
    (workspace / "Herds.pdf").write_bytes(pdf([["Intro"]]))
    memory = open_memory(use=None, extensions=READABLE_EXTENSIONS)
    memory.sync()
    (workspace / "Herds.pdf").write_bytes(b"damaged")
    found = insight(memory).linked_text("Herds.pdf", "page=1", "Hub.md")
    assert found is not None
    assert (found.path, found.line, found.text) == ("Herds.pdf", 1, "")


def test_linked_text_does_not_follow_a_symlink(memory: BuiltinMemory, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    dog = tmp_path / "notes" / "animals" / "Dog.md"
    dog.unlink()
    dog.symlink_to(outside)
    assert insight(memory).linked_text("Dog", "", "Home.md") is None


def test_sync_replaces_links_of_a_changed_note(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "Home.md").write_text("Only [[Diary]] is left here now.\n")
    (tmp_path / "notes" / "animals" / "Garden.md").unlink()
    memory.sync()
    assert paths(memory, "links:Doggo") == ["Garden.md"]
    assert paths(memory, "links:Diary") == ["Home.md"]
    assert [link.path for link in insight(memory).note_links("animals/Dog.md").links] == ["Garden.md", ""]


def test_logseq_properties_are_data(memory: BuiltinMemory) -> None:
    assert paths(memory, 'tag:"steering wheel"') == ["pages/Plan___Spring.md"]
    assert paths(memory, "title:2024-05-08") == ["journals/2024_05_08.md"]
    [result] = [one for one in memory.search("sow", min_score=0).results if one.path == "pages/Plan___Spring.md"]
    assert BLOCK not in result.snippet.partition("See")[0]


def write_image(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"an image")
    return path


@pytest.mark.parametrize(
    ("target", "image"),
    [
        ("dog.png", "animals/dog.png"),
        ("./img/my%20cat.JPG", "animals/img/my cat.JPG"),
        ("../plan.webp", "plan.webp"),
        ("/plan.webp", "plan.webp"),
        ("animals/dog.png", "animals/dog.png"),
        ("deep.gif", "files/2024/deep.gif"),
        ("2024/DEEP.gif", "files/2024/deep.gif"),
    ],
)
def test_image_is_found_by_path_or_name(memory: BuiltinMemory, tmp_path: Path, target: str, image: str) -> None:
    for name in ("animals/dog.png", "animals/img/my cat.JPG", "plan.webp", "files/2024/deep.gif"):
        write_image(tmp_path / "notes", name)
    assert insight(memory).images_of("animals/Dog.md").locate(target) == tmp_path / "notes" / image


@pytest.mark.parametrize(
    "target",
    [
        "../../outside.png",
        "/../outside.png",
        "{folder}/outside.png",
        "file://{folder}/outside.png",
        "https://example.org/dog.png",
        "link.png",
        "folder/outside.png",
        "drawing.svg",
        "Dog.md",
        ".trash/old.png",
        "old.png",
        "folder.png",
        "missing.png",
        "",
    ],
)
def test_image_outside_or_in_hidden_folder_is_not_located(memory: BuiltinMemory, tmp_path: Path, target: str) -> None:
    notes = tmp_path / "notes"
    write_image(tmp_path, "outside.png")
    write_image(notes, "animals/drawing.svg")
    write_image(notes, ".trash/old.png")
    (notes / "animals" / "folder.png").mkdir()
    (notes / "animals" / "link.png").symlink_to(tmp_path / "outside.png")
    (notes / "animals" / "folder").symlink_to(tmp_path, target_is_directory=True)
    assert insight(memory).images_of("animals/Dog.md").locate(target.format(folder=tmp_path)) is None
