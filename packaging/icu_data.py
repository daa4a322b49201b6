"""Reduce the size of ICU's data: Qt's Linux wheels contain 32 MB, and Qt uses little but the collation rules.

The result contains the rules for sorting and normalization, and the data that ICU reads at startup. Qt has its own
names of languages, countries, currencies, units and time zones; Python decodes other encodings than Unicode.
The format is that of ICU's `.dat` files (a header, then a table of names and offsets), wrapped in a shared library;
wrapping it again takes only binutils.
"""

import re
import struct
import subprocess
import tempfile
from pathlib import Path

_MAGIC = b"CmnD"
_MAGIC_AT = 12
"""Bytes of the header before the magic number."""
_ALIGNED = 16
_NEEDED = {
    *("root.res", "pool.res", "res_index.res", "supplementalData.res", "likelySubtags.res", "keyTypeData.res"),
    *("numberingSystems.res", "timezoneTypes.res", "metadata.res", "icuver.res", "icustd.res", "cnvalias.icu"),
}
_NEEDED_KINDS = re.compile(r"coll/.*|(?!unames)[^/]+\.(?:icu|nrm)")
"""All but the character names, which only patterns and transliterations use."""


def shrink(library: Path) -> None:
    """Replace `libicudata.so.N` by a smaller one. Raises `ValueError` if it doesn't contain ICU data."""
    data = library.read_bytes()
    symbol = re.search(rb"icudt(\d+)_dat\0", data)
    start = data.find(_MAGIC) - _MAGIC_AT
    if symbol is None or start < 0:
        raise ValueError(f"{library.name} holds no data of ICU.")
    small = _rebuilt(data[start:])
    with tempfile.TemporaryDirectory() as scratch:
        raw, code, thing = (Path(scratch, name) for name in ("icu.dat", "icu.s", "icu.o"))
        raw.write_bytes(small)
        name = symbol[0][:-1].decode()
        code.write_text(
            f'.section .rodata\n.globl {name}\n.type {name}, %object\n.balign {_ALIGNED}\n{name}:\n.incbin "{raw}"\n'
            f".size {name}, . - {name}\n"
            '.section .note.GNU-stack,"",%progbits\n'
        )
        subprocess.run(["as", "-o", str(thing), str(code)], check=True)
        link = ["ld", "-shared", "-s", "-soname", library.name, "-z", "noexecstack", "-o", str(library), str(thing)]
        subprocess.run(link, check=True)


def _rebuilt(data: bytes) -> bytes:
    """Return the same common data with only the needed entries."""
    (header,) = struct.unpack_from("<H", data)
    (count,) = struct.unpack_from("<I", data, header)
    table = [struct.unpack_from("<II", data, header + 4 + 8 * number) for number in range(count)]
    ends = [offset for _, offset in table[1:]] + [len(data) - header]
    items = []
    for (name_at, offset), end in zip(table, ends, strict=True):
        name = data[header + name_at : data.index(b"\0", header + name_at)]
        path = name.decode().partition("/")[2]
        if path in _NEEDED or _NEEDED_KINDS.fullmatch(path):
            items.append((name, data[header + offset : header + end]))
    names_at = 4 + 8 * len(items)
    at = names_at + sum(len(name) + 1 for name, _ in items)
    offsets, names, contents = [], b"", b""
    at += -at % _ALIGNED
    for name, content in items:
        padded = content + b"\0" * (-len(content) % _ALIGNED)
        offsets.append(struct.pack("<II", names_at + len(names), at + len(contents)))
        names += name + b"\0"
        contents += padded
    toc = struct.pack("<I", len(items)) + b"".join(offsets) + names
    return data[:header] + toc + b"\xaa" * (-len(toc) % _ALIGNED) + contents
