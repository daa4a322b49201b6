"""Transcripts compressed by their agent: read like uncompressed ones, block by block.

Codex compresses rollouts unchanged for a week (`rollout-*.jsonl.zst`, one zstd stream, with the same modification
time), and restores the plain file to continue one. If both exist, the plain one counts.
"""

import errno
import os

from engine.base import skip_reasons

_BLOCK = 256 * 1024
"""Bytes per read, which holds the interpreter lock for about a millisecond."""
_KEPT = 512 * 1024
"""Number of bytes before the current position that can be read again without restarting."""
_LARGEST = 16 * 1024**3
"""Largest decompressed transcript in bytes; a few bytes of zstd can expand to any number."""
_WINDOW = 128 * 1024**2
"""Largest decompression window in bytes; Codex uses 2 MB."""


class Unpacked:
    """Reads a compressed file's decompressed bytes at any position. For one thread."""

    def __init__(self, descriptor: int) -> None:
        """The caller keeps ownership of `descriptor`, and closes it afterwards."""
        self._descriptor = descriptor
        self._begin()

    def read_at(self, position: int, size: int) -> bytes:
        """Return at most `size` bytes from `position` on, fewer only at the end. Raises OSError."""
        if position < self._start:
            self._begin()
        while self._start + len(self._kept) < position + size:
            block = self._next()
            if not block:
                break
            self._kept += block
            spare = min(len(self._kept) - _KEPT, position - self._start)
            if spare > _BLOCK:
                del self._kept[:spare]
                self._start += spare
        begin = position - self._start
        return bytes(self._kept[begin : begin + size])

    def _begin(self) -> None:
        import zstandard  # only Codex compresses, and only old transcripts

        os.lseek(self._descriptor, 0, os.SEEK_SET)
        file = os.fdopen(self._descriptor, "rb", buffering=0, closefd=False)
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        self._stream = unpacker.stream_reader(file, read_size=_BLOCK, read_across_frames=True, closefd=False)
        self._failure = zstandard.ZstdError
        self._kept = bytearray()
        self._start = 0

    def _next(self) -> bytes:
        if self._start + len(self._kept) >= _LARGEST:
            raise OSError(errno.EFBIG, skip_reasons.LARGE_WHEN_UNPACKED.message())
        try:
            return self._stream.read(_BLOCK)
        except self._failure:
            raise OSError(errno.EIO, skip_reasons.BAD_COMPRESSION.message()) from None
