import subprocess
import sys

import pytest

_COUNT_HEAPS = """
import ctypes, threading
{limit}
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.fopen.restype, libc.fclose.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
together = threading.Barrier(6)
def take():
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=take) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
file = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, file)
libc.fclose(file)
"""
_LIMIT = "from gui.app.application import limit_heaps; limit_heaps()"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_pool_threads_share_two_heaps():
    heaps = [
        subprocess.run(
            [sys.executable, "-c", _COUNT_HEAPS.format(limit=limit)], capture_output=True, text=True, check=True
        ).stdout.count("<heap nr=")
        for limit in (_LIMIT, "")
    ]
    assert heaps[0] == 2 < heaps[1]
