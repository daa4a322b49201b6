"""Transcripts compressed by their agent: read like uncompressed ones, block by block.

Codex compresses rollouts unchanged for a week (`rollout-*.jsonl.zst`, one zstd stream, with the same modification
time), and restores the plain file to continue one. If both exist, the plain one counts.
"""

import errno
import os

from engine.base import skip_reasons

_BLOCK = 256 * 1024
_KEPT = 512 * 1024
"""Bytes before the current position that can be read again without restarting."""
_LARGEST = 16 * 1024**3
"""Bytes of a transcript; a few bytes of zstd can stand for any number of them."""
_WINDOW = 128 * 1024**2
"""Bytes that unpacking may hold; Codex writes with windows of 2 MB."""


class Unpacked:
    """The bytes that a compressed file stands for. For one thread."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` stays the caller's, who closes it after this was used."""
        self._descriptor = descriptor
        self._begin()

    def read_at(self, position: int, size: int) -> bytes:
        """At most `size` bytes from a place on, fewer only at the end. Raises OSError."""
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
            raise OSError(errno.EFBIG, skip_reasons.LARGE_WHEN_UNPACKED.said())
        try:
            return self._stream.read(_BLOCK)
        except self._failure:
            raise OSError(errno.EIO, skip_reasons.BAD_COMPRESSION.said()) from None
