"""Remove debug symbols and absolute build paths from the shared libraries of a bundle.

A wheel's own libraries (`numpy.libs`) have been patched before: when their names were changed, their tables were copied
to new segments. `strip` empties the segments that nothing uses any more, and the loader refuses a library with an empty
one whose position is not a multiple of the page size. So these are marked as unused, as ELF's specification allows.
"""

import struct
import subprocess
from pathlib import Path

_HEADER = struct.Struct("<32xQ14xHH")
"""Of a 64-bit file: position of the table of segments, size and number of its entries."""
_SEGMENT = struct.Struct("<I36xQ")
"""Kind of a segment, and its bytes in memory."""
_UNUSED, _LOADED = 0, 1


def strip(folder: Path) -> None:
    """Strip all shared libraries in the folder. Raises `subprocess.CalledProcessError` if a tool fails."""
    libraries = [path for path in folder.rglob("*.so*") if path.is_file() and not path.is_symlink()]
    subprocess.run(["strip", "--strip-unneeded", *map(str, libraries)], check=True)
    for path in libraries:
        _mark_empty_segments(path)
        listed = subprocess.run(["chrpath", "-l", str(path)], capture_output=True, text=True, check=False).stdout
        if "PATH=/" in listed:  # set by Pythons that were not installed by a package
            subprocess.run(["chrpath", "-d", str(path)], stdout=subprocess.DEVNULL, check=True)


def _mark_empty_segments(library: Path) -> None:
    data = bytearray(library.read_bytes())
    table, size, count = _HEADER.unpack_from(data)
    empty = [at for at in range(table, table + size * count, size) if _SEGMENT.unpack_from(data, at) == (_LOADED, 0)]
    for at in empty:
        struct.pack_into("<I", data, at, _UNUSED)
    if empty:
        library.write_bytes(data)
