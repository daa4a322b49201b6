"""Rows for store tests, created without reading any file."""

import hashlib
from pathlib import Path

from engine.store.index import IndexStore
from engine.store.index_paths import IndexFiles
from engine.store.writer import NewChunk, NewFile


def new_chunk(text: str, line: int = 1) -> NewChunk:
    return NewChunk(
        start_line=line,
        end_line=line + text.count("\n"),
        hash=hashlib.sha256(text.encode()).digest(),
        heading=("Top",),
        text=text,
        heading_tokens="top",
        words=text.lower(),
        stems=text.lower(),
    )


def new_file(path: str, *texts: str, mtime_ns: int = 1) -> NewFile:
    return NewFile(
        source="memory",
        path=path,
        hash=hashlib.sha256("\n".join(texts).encode()).hexdigest(),
        mtime_ns=mtime_ns,
        size=sum(map(len, texts)),
        title=path,
        language="english",
        title_tokens=path,
        name_tokens=path,
        chunks=tuple(new_chunk(text, number * 10 + 1) for number, text in enumerate(texts)),
    )


def open_store(folder: Path) -> IndexStore:
    return IndexStore(IndexFiles(folder / "index"))
