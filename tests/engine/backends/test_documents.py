"""Documents in an index: found by page or heading, shown at the same lines; files without a text are read once."""

import codecs
import json
import os
from pathlib import Path

import pytest

from engine.corpus import documents
from engine.corpus.discovery import READABLE_EXTENSIONS
from engine.corpus.documents.extraction_process import DocumentReader
from engine.indexing.session_workspace_assignment import preview_workspace
from engine.settings import Settings
from tests.helpers.document_files import docx, epub, odt, pdf, word_paragraph

WITH_DOCUMENTS = (*Settings().extensions, *documents.ENDINGS)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the documents that were extracted."""
    found: list[str] = []
    extract = DocumentReader.text_of

    def text_of(reader, data, name, cancel=None):
        found.append(Path(name).name)
        return extract(reader, data, name, cancel)

    monkeypatch.setattr(DocumentReader, "text_of", text_of)
    return found


def test_documents_are_found_at_the_lines_they_are_read_at(open_memory, workspace: Path) -> None:
    (workspace / "a.pdf").write_bytes(pdf([["Intro"], ["A quagga grazes", "by the pond"]], title="Herds"))
    (workspace / "b.docx").write_bytes(
        docx(word_paragraph("Plan", '<w:pStyle w:val="H1"/>') + word_paragraph("Count each quagga"))
    )
    (workspace / "c.odt").write_bytes(odt('<text:h text:outline-level="1">Log</text:h><text:p>One quagga</text:p>'))
    (workspace / "d.epub").write_bytes(epub({"Chapter one": "<p>The quagga slept.</p>"}, title="Quaggas"))
    (workspace / "e.html").write_bytes(b"<title>Zoo</title><h2>Pens</h2><p>No quagga here")
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    assert memory.sync().failed == ()
    found = {result.path: result for result in memory.search("quagga", max_results=20, min_score=0.01).results}
    assert {name: (result.title, result.heading) for name, result in found.items()} == {
        "a.pdf": ("Herds", ("Page 2",)),
        "b.docx": ("Plan", ("Plan",)),
        "c.odt": ("Log", ("Log",)),
        "d.epub": ("Quaggas", ("Chapter one",)),
        "e.html": ("Zoo", ("Pens",)),
    }
    for name, result in found.items():
        text = memory.read_file(name, start=result.start_line, lines=result.end_line - result.start_line + 1).text
        assert result.snippet in text
    assert found["a.pdf"].snippet == "A quagga grazes\nby the pond"


def test_json_is_indexed_only_if_it_is_an_export_of_notes(open_memory, workspace: Path, readings: list[str]) -> None:
    note = {"title": "Herds", "textContent": "A quagga", "labels": [{"name": "zoo"}], "userEditedTimestampUsec": 1}
    (workspace / "note.json").write_text(json.dumps(note))
    (workspace / "package.json").write_text('{"name": "quagga"}')
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    for _ in range(2):
        report = memory.sync()
        assert report.failed == ()
        assert [(one.path, one.rule) for one in report.skipped if one.rule == "not-notes"] == [
            ("package.json", "not-notes")
        ]
    assert sorted(readings) == ["note.json", "package.json"]
    assert [result.path for result in memory.search("quagga", min_score=0.01).results] == ["note.json"]
    assert [result.title for result in memory.search("tag:zoo").results] == ["Herds"]
    assert memory.explain_path("package.json").rule == "not-notes"
    assert {finding.id: finding.state for finding in memory.insight.health()}["notes"] == "fine"


def joplin(number: int, text: str, **fields: object) -> tuple[str, str]:
    """Return name and content of a file of Joplin's format RAW."""
    values = {"id": f"{number:032x}", "user_updated_time": "2021-06-18T10:39:52.000Z", **fields}
    return f"{number:032x}.md", f"{text}\n\n" + "\n".join(f"{key}: {value}" for key, value in values.items())


def test_folder_of_joplin_is_read_as_its_notes(open_memory, workspace: Path) -> None:
    files = [
        joplin(1, "Herds\n\nA quagga grazes.", is_conflict=0, markup_language=1, type_=1),
        joplin(2, "Quagga notebook", type_=2),
        joplin(3, "quagga", type_=5),
        joplin(4, "", encryption_cipher_text="JED01quagga", encryption_applied=1, type_=1),
        joplin(5, "Old quagga\n\nGone.", deleted_time=1700000000000, type_=1),
    ]
    for name, content in files:
        (workspace / name).write_text(content)
    memory = open_memory(use=None)
    report = memory.sync()
    assert [(issue.path, issue.rule) for issue in report.failed] == [(files[3][0], "encrypted")]
    assert {issue.path for issue in report.skipped if issue.rule == "not-notes"} == {files[n][0] for n in (1, 2, 4)}
    assert [result.title for result in memory.search("quagga on:2021-06-18", min_score=0.01).results] == ["Herds"]
    assert memory.search("markup_language").results == ()


@pytest.mark.parametrize("created", ["June 27, 2023 9:32 PM", "Jun 27, 2023", "2023/06/27 21:32", "27. Juni 2023"])
def test_page_of_notion_has_tags_and_date(open_memory, workspace: Path, created: str) -> None:
    properties = f"Status: Done\nTags: Zoo, wild life\nCreated time: {created}\nDeleted time: {created}"
    page = f"# Herds\n\n{properties}\n\nA quagga grazes.\n"
    (workspace / f"Herds {1:032x}.md").write_text(page)
    (workspace / "Herds.md").write_text(page)
    memory = open_memory(use=None)
    memory.sync()
    for condition in ("tag:zoo", 'tag:"wild life"', "on:2023-06-27"):
        (found,) = memory.search(f"quagga status {condition}", min_score=0.01).results
        assert (found.path, found.title) == (f"Herds {1:032x}.md", "Herds")


def test_pgp_armour_is_no_asciidoc(open_memory, workspace: Path) -> None:
    (workspace / "notes.asc").write_text("= Herds\n\nA quagga grazes.\n", "utf-8")
    (workspace / "release.tar.gz.asc").write_text("-----BEGIN PGP SIGNATURE-----\n\nquagga\n=aB3d\n", "utf-8")
    memory = open_memory(use=None, extensions=(*WITH_DOCUMENTS, ".asc"))
    report = memory.sync()
    assert report.failed == ()
    assert "This is a key, a signature or a message of PGP, not AsciiDoc." in [one.detail for one in report.skipped]
    assert [result.path for result in memory.search("quagga").results] == ["notes.asc"]


def test_document_without_text_is_read_once(open_memory, workspace: Path, readings: list[str]) -> None:
    (workspace / "scan.pdf").write_bytes(pdf([[], []]))
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    for _ in range(3):
        (issue,) = memory.sync().failed
        assert (issue.path, issue.rule) == ("scan.pdf", "no-text")
        state = memory.explain_path("scan.pdf")
        assert (state.state, state.remedy) == ("failed", "open")
        assert state.sentence == f"Only the name of this file is found. {issue.detail}"
        [finding] = [finding for finding in memory.insight.health() if issue.detail in finding.detail]
        assert finding.advice == "Otherwise, exclude it in the settings."  # the detail advises OCR already
        assert "OCR" in issue.detail
    assert readings == ["scan.pdf"]
    (workspace / "scan.pdf").write_bytes(pdf([["Now with a quagga"]]))
    assert memory.sync().failed == ()
    assert memory.search("quagga", min_score=0.01).results[0].path == "scan.pdf"
    assert readings == ["scan.pdf"] * 2


@pytest.mark.parametrize("mode", ["keyword", "auto"])
def test_document_without_text_is_found_by_name(open_memory, workspace: Path, readings: list[str], mode: str) -> None:
    broken = {
        "Lease-Scan.pdf": pdf([[], []]),
        "Certificate.pdf": pdf([["A quagga"]], encrypted=True),
        "Old Minutes.docx": b"PK",
    }
    for name, content in broken.items():
        (workspace / name).write_bytes(content)
    memory = open_memory(extensions=WITH_DOCUMENTS)
    for _ in range(3):
        assert {issue.path for issue in memory.sync().failed} == {*broken}
    assert sorted(readings) == sorted(broken)
    queries = {"lease scan": "Lease-Scan.pdf", "certificate": "Certificate.pdf", "old minutes docx": "Old Minutes.docx"}
    found = {query: memory.search(query, mode=mode).results for query in queries}
    assert {query: results[0].path for query, results in found.items() if results} == queries
    (workspace / "Lease-Scan.pdf").unlink()
    memory.sync()
    assert "Lease-Scan.pdf" not in {result.path for result in memory.search("lease scan", mode=mode).results}


FILES_WITHOUT_TEXT = {
    "empty.md": b"",
    "blank.md": b" \r\n\t\f\n",
    "mark.md": codecs.BOM_UTF8,
    "mark.txt": codecs.BOM_UTF16_LE,
    "mark.org": codecs.BOM_UTF16_BE + b"\0\n",
    "front matter.md": b"---\ntitle: x\n---\n",
    "zeros.md": b"\0" * 300,
    "binary.md": bytes(range(256)) * 8,
    "card.canvas": b'{"nodes": [], "edges": []}',
    "broken.canvas": b"[" * 5_000,
    "mark.canvas": codecs.BOM_UTF8,
    "notebook.ipynb": b'{"cells": []}',
    "broken.ipynb": b'{"cells": ' + b"9" * 5_000,
    "page.html": b"<p></p>",
    "empty.docx": b"",
    "broken.odt": b"PK\3\4",
    "large.md": b"word " * 500_000,
}


def test_unchanged_file_without_text_is_read_once(open_memory, workspace: Path) -> None:
    for name, content in FILES_WITHOUT_TEXT.items():
        (workspace / name).write_bytes(content)
    (workspace / "link.md").symlink_to("empty.md")
    memory = open_memory(use=None, extensions=READABLE_EXTENSIONS)
    first = memory.sync()
    phases: list[str] = []
    second = memory.sync(progress=lambda progress: phases.append(progress.phase))
    assert "discovering" in phases
    assert "indexing" not in phases
    assert {*second.failed} == {*first.failed}
    assert {issue.rule for issue in first.failed} >= {"binary", "unknown-format", "no-text", "damaged"}
    (workspace / "binary.md").write_text("A quagga")
    (workspace / "broken.canvas").write_text('{"nodes": [{"id": "1", "type": "text", "text": "Another quagga"}]}')
    assert memory.sync().files_indexed == 2
    assert {hit.path for hit in memory.search("quagga", min_score=0.01).results} == {"binary.md", "broken.canvas"}


def test_failed_document_is_remembered_when_reopened(open_memory, workspace: Path, readings: list[str]) -> None:
    (workspace / "scan.pdf").write_bytes(pdf([[]]))
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    memory.sync()
    memory.close()
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    assert [issue.rule for issue in memory.sync().failed] == ["no-text"]
    assert readings == ["scan.pdf"]
    memory.sync(force=True)
    assert readings == ["scan.pdf"] * 2


def test_document_without_text_is_reported_after_a_kill(
    open_memory, workspace: Path, tmp_path: Path, readings: list[str]
) -> None:
    (workspace / "scan.pdf").write_bytes(pdf([[]]))
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    memory.sync()
    memory.close()
    (record,) = tmp_path.rglob("reading-crashed.json")
    record.unlink()  # it is written at the end of a sync, after the name of the document
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    for _ in range(2):
        assert [issue.rule for issue in memory.sync().failed] == ["no-text"]
    assert readings == ["scan.pdf"] * 2


def test_document_that_loses_its_text_is_not_found(open_memory, workspace: Path) -> None:
    (workspace / "a.pdf").write_bytes(pdf([["A quagga"]]))
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    memory.sync()
    (workspace / "a.pdf").write_bytes(pdf([["A quagga"]], encrypted=True))
    assert [issue.rule for issue in memory.sync().failed] == ["encrypted"]
    assert memory.search("quagga", min_score=0.3).results == ()


def test_touched_document_is_not_indexed_again(open_memory, workspace: Path) -> None:
    (workspace / "a.html").write_bytes(b"<p>words")
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    memory.sync()
    os.utime(workspace / "a.html", (1, 1))
    assert memory.sync().files_indexed == 0


def test_without_the_library_pdf_files_are_tried_each_time(
    open_memory, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "a.pdf").write_bytes(pdf([["A quagga"]]))
    memory = open_memory(use=None, extensions=WITH_DOCUMENTS)
    with monkeypatch.context() as without:
        without.setattr(documents, "find_spec", lambda name: None)
        assert [issue.rule for issue in memory.sync().failed] == ["missing-reader"]
        kinds = preview_workspace(workspace, Settings(extensions=WITH_DOCUMENTS)).kinds
        assert [".[documents]" in kind.missing for kind in kinds if kind.extension == ".pdf"] == [True]
    assert memory.sync().failed == ()
    assert memory.search("quagga", min_score=0.01).results[0].path == "a.pdf"


def test_documents_are_offered_and_off_by_default(workspace: Path) -> None:
    for name in ("a.pdf", "b.PDF", "c.epub"):
        (workspace / name).write_bytes(b"x")
    kinds = {kind.extension: kind for kind in preview_workspace(workspace, Settings()).kinds}
    assert (kinds[".pdf"].files, kinds[".pdf"].indexed, kinds[".pdf"].missing) == (2, False, "")
    assert (kinds[".epub"].files, kinds[".epub"].indexed) == (1, False)
