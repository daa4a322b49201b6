"""Canvases and notebooks are read as Markdown, with the same lines everywhere."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.json_notes import LARGEST, readable
from engine.corpus.line_reader import NumberedText
from engine.corpus.note_reader import Unreadable, read_note

CANVAS = {
    "nodes": [
        {"id": "g", "type": "group", "x": 0, "y": 400, "width": 500, "height": 300, "label": "Irrigation"},
        {
            "id": "v",
            "type": "text",
            "x": 10,
            "y": 450,
            "width": 200,
            "height": 100,
            "text": "The valve sticks.\n```sh\nx",
        },
        {"id": "b", "type": "text", "x": 300, "y": 0, "width": 200, "height": 100, "text": "# Second\r\nFrost"},
        {"id": "a", "type": "text", "x": 0, "y": 0, "width": 200, "height": 100, "text": "First", "color": "4"},
        {"id": "f", "type": "file", "x": 0, "y": 200, "width": 9, "height": 9, "file": "tomato.md", "subpath": "#Sow"},
        {"id": "i", "type": "file", "x": 0, "y": 300, "width": 9, "height": 9, "file": "img/bed.png"},
        {"id": "l", "type": "link", "x": 250, "y": 450, "width": 9, "height": 9, "url": "https://example.org"},
    ],
    "edges": [
        {"id": "1", "fromNode": "a", "toNode": "v", "label": "leads to"},
        {"id": "2", "fromNode": "a", "toNode": "b"},
        {"id": "3", "fromNode": "i", "toNode": "f", "label": "of"},
    ],
}
CANVAS_TEXT = """First

---

# Second
Frost

---

[[tomato.md#Sow]]

---

![[img/bed.png]]

# Irrigation

The valve sticks.
```sh
x
```

---

<https://example.org>

---

- First → The valve sticks.: leads to
- img/bed.png → tomato.md#Sow: of
"""
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"language_info": {"name": "python", "version": "3.11"}},
    "cells": [
        {"id": "a", "cell_type": "markdown", "metadata": {}, "source": ["# Yield\n", "\n", "of #tomatoes"]},
        {
            "id": "b",
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": "print(kilos)\n",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["12.5\n"]},
                {
                    "output_type": "execute_result",
                    "execution_count": 1,
                    "metadata": {},
                    "data": {"text/plain": ["None"]},
                },
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": "aGk=", "text/plain": "<Figure size 1>"},
                },
                {"output_type": "error", "ename": "ValueError", "evalue": "no sun", "traceback": ["\u001b[0;31mx"]},
            ],
        },
        {"id": "c", "cell_type": "raw", "metadata": {}, "source": "raw text"},
        {
            "id": "d",
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "source": "'''\n```\n'''",
            "outputs": [],
        },
    ],
}
NOTEBOOK_TEXT = """# Yield

of #tomatoes

```python
print(kilos)
```

Output

```
12.5
None
ValueError: no sun
```

raw text

````python
'''
```
'''
````
"""


OLD_NOTEBOOK = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": "Yield"},
    "worksheets": [
        {
            "metadata": {},
            "cells": [
                {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Yield"]},
                {"cell_type": "markdown", "metadata": {}, "source": ["of #tomatoes"]},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["kilos"],
                    "language": "python",
                    "metadata": {},
                    "prompt_number": 1,
                    "outputs": [
                        {"output_type": "pyout", "prompt_number": 1, "metadata": {}, "text": ["12.5"], "png": "aGk="},
                        {"output_type": "pyerr", "ename": "ValueError", "evalue": "no sun", "traceback": []},
                    ],
                },
            ],
        }
    ],
}
OLD_NOTEBOOK_TEXT = """## Yield

of #tomatoes

```python
kilos
```

Output

```
12.5
ValueError: no sun
```
"""


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("a.canvas", CANVAS, CANVAS_TEXT),
        ("a.ipynb", NOTEBOOK, NOTEBOOK_TEXT),
        ("a.ipynb", OLD_NOTEBOOK, OLD_NOTEBOOK_TEXT),
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_document_reads_as_markdown_everywhere(tmp_path: Path, name: str, value: dict, text: str, codec: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(value, ensure_ascii=False), codec)
    assert read_note(str(path), name, 10_000).text == text
    with NumberedText.open(path) as lines:
        assert lines.full_text() == text
        assert lines.lines(1, 3) == text.split("\n")[:3]
        assert lines.size == path.stat().st_size


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.canvas", b'{"nodes": [', "breaks off"),
        ("a.canvas", b"[1]", "isn't a canvas"),
        ("a.canvas", b"[" * 100_000, "nested too deeply"),
        ("a.ipynb", b'{"nbformat": 2, "worksheets": []}', "versions 3 and 4"),
        ("a.ipynb", b"# Not JSON", "not JSON"),
    ],
)
def test_damaged_document_has_reason_and_is_shown_raw(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Unreadable) as refused:
        read_note(str(tmp_path / name), name, 10_000_000)
    assert refused.value.issue.rule == "unknown-format"
    assert reason in refused.value.issue.detail
    with NumberedText.open(tmp_path / name) as lines:
        assert lines.full_text() == data.decode()


def test_empty_canvas_is_empty_text() -> None:
    assert readable(b"{}", "a.canvas") == ""


def test_output_is_cut() -> None:
    cell = {"cell_type": "code", "source": "", "outputs": [{"output_type": "stream", "text": "x" * 90_000}]}
    text = readable(json.dumps({"nbformat": 4, "cells": [cell]}).encode(), "a.ipynb")
    assert len(text) < 21_000
    assert text.endswith("…\n```\n")


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "x", "label", "id", "cell_type", "source", "outputs", "data", "output_type"]
            ),
            inner | st.sampled_from(["text", "group", "file", "code", "markdown", "stream", "display_data"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(items=_JSON, others=_JSON, name=st.sampled_from(["a.canvas", "a.ipynb"]))
def test_no_document_raises_anything_else(items: object, others: object, name: str) -> None:
    value = {"nodes": items, "edges": others, "nbformat": 4, "cells": items, "metadata": others, "worksheets": [others]}
    text = readable(json.dumps(value).encode(), name)
    assert "\0" not in text
    assert text == text.encode().decode()


def test_canvas_card_is_below_its_group_among_many() -> None:
    box = {"y": 0, "width": 9, "height": 9}
    groups = [{"id": f"g{x}", "type": "group", "label": f"g{x}", "x": x * 10, **box} for x in range(1500)]
    cards = [{"id": f"c{x}", "type": "text", "text": f"card {x}", "x": x * 10, **box} for x in range(1500)]
    text = readable(json.dumps({"nodes": groups + cards}).encode(), "a.canvas")
    assert all(f"card {x}\n" in text for x in range(1500))
    assert "# g1\n\ncard 1\n" in text


def test_code_with_old_line_ends_stays_in_its_fence() -> None:
    cell = {"cell_type": "code", "source": "a\r```\rb", "metadata": {}, "outputs": []}
    text = readable(json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}).encode(), "a.ipynb")
    assert text.startswith("````")
    assert text.rstrip().endswith("````")


def test_larger_document_has_reason() -> None:
    with pytest.raises(ValueError, match=r"may have at most 67,108,864 bytes\."):
        readable(b" " * (LARGEST + 1), "a.canvas")
