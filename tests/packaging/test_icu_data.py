import shutil
import struct
import subprocess

import pytest

HEADER = b"\x20\x00\xda'\x14\x00\x00\x00\x00\x00\x02\x00CmnD" + b"\x01\x00\x00\x00\x03\x00\x00\x00" + b"\0" * 8
ENTRIES = {
    "brkitr/thaidict.dict": b"long " * 1000,
    "coll/de.res": b"German order",
    "de.res": b"names of months",
    "gb18030.cnv": b"Chinese " * 500,
    "nfc.nrm": b"normal forms",
    "root.res": b"the root",
    "unames.icu": b"names of characters " * 400,
}


def common_data(entries):
    names = [f"icudt73l/{name}".encode() + b"\0" for name in entries]
    start = 4 + 8 * len(entries)
    at = start + sum(map(len, names))
    at += -at % 16
    table, text, data = b"", b"", b""
    for name, content in zip(names, entries.values(), strict=True):
        table += struct.pack("<II", start + len(text), at + len(data))
        text += name
        data += content + b"\0" * (-len(content) % 16)
    toc = struct.pack("<I", len(entries)) + table + text
    return HEADER + toc + b"\xaa" * (-len(toc) % 16) + data


def read(data):
    """Read entries as ICU does: by the header's length and the table after it."""
    (header,) = struct.unpack_from("<H", data)
    body = data[header:]
    (count,) = struct.unpack_from("<I", body)
    found = {}
    for number in range(count):
        name_at, offset = struct.unpack_from("<II", body, 4 + 8 * number)
        assert offset % 16 == 0
        name = body[name_at : body.index(b"\0", name_at)].decode()
        found[name.partition("/")[2]] = body[offset:]
    return found


def test_shrink_keeps_only_collation_and_normalization(load):
    rebuilt = load("icu_data")._rebuilt(common_data(ENTRIES))
    found = read(rebuilt)
    assert list(found) == ["coll/de.res", "nfc.nrm", "root.res"]
    for name, content in found.items():
        assert content.startswith(ENTRIES[name])
    assert rebuilt.startswith(HEADER)


@pytest.mark.skipif(not (shutil.which("as") and shutil.which("ld")), reason="binutils are not installed here")
def test_rebuilt_library_keeps_name_and_symbol(load, tmp_path):
    library = tmp_path / "libicudata.so.73"
    library.write_bytes(b"\x7fELF icudt73_dat\0 " + common_data(ENTRIES))
    load("icu_data").shrink(library)
    symbols = subprocess.run(
        ["readelf", "-Wd", "--dyn-syms", library], capture_output=True, text=True, check=True
    ).stdout
    assert "icudt73_dat" in symbols
    assert "Library soname: [libicudata.so.73]" in symbols
    data = library.read_bytes()
    assert b"German order" in data
    assert b"names of months" not in data


def test_library_without_icu_data_is_unchanged(load, tmp_path):
    library = tmp_path / "libother.so"
    library.write_bytes(b"\x7fELF nothing of ICU")
    with pytest.raises(ValueError, match=r"libother\.so holds no data"):
        load("icu_data").shrink(library)
    assert library.read_bytes() == b"\x7fELF nothing of ICU"
