"""Reports the operating system's notifications of file changes, through watchdog.

On macOS and Windows one native watch covers a whole tree, and watchdog's observers are used unchanged. On Linux each
folder needs a watch, and a system has 10,000 to 500,000. Watchdog's observer adds one for every folder below the
root, hides that they have run out, and wakes for each file that is only read. So its inotify reader is used directly on
Linux: ignored folders get no watch, and opening and closing files is not reported.
"""

import contextlib
import errno
import itertools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from engine.base.errors import MnemoscopeError
from engine.base.language import tr

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver
    from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, WatchDescriptor

Ignores = Callable[[str, str, bool], bool]
"""Function that says whether to ignore a path. Arguments: a resolved root, a path relative to it with slashes, whether
it is a folder.
"""

_IGNORED_EVENTS = frozenset({"opened", "closed_no_write"})
_STOP_SECONDS = 1.0
_LIMIT_ERRORS = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class Sink(Protocol):
    """Receives the reports of a native watch, on threads of that watch."""

    def changed(self, path: str) -> None:
        """Report that the file or folder at this absolute path has changed."""

    def lost(self) -> None:
        """Report that changes were missed, or a root was removed: reopen the watch and check all files."""

    def failed(self, error: OSError) -> None:
        """Report that the system provides no more watches."""

    @property
    def stopping(self) -> bool:
        """Whether to abort setting up the watch, since its owner is stopping."""


class NativeWatch(Protocol):
    def flush(self, seconds: float) -> bool:
        """Wait until every change made before this call is reported; False where that is not known."""

    def close(self) -> None:
        """End all threads; nothing is reported afterwards."""


class WatchUnavailable(MnemoscopeError):
    """Raised if this system can't report changes in a folder tree."""


def open_native(roots: Sequence[str], ignores: Ignores, sink: Sink) -> NativeWatch:
    """Watch folders recursively, and single files. Raises OSError and WatchUnavailable."""
    if sys.platform.startswith("linux"):
        return InotifyWatch(roots, ignores, sink)
    if sys.platform == "darwin":
        from watchdog.observers.fsevents import FSEventsObserver

        return ObserverWatch(FSEventsObserver(), roots, ignores, sink)
    if sys.platform == "win32":
        from watchdog.observers.read_directory_changes import WindowsApiObserver

        return ObserverWatch(WindowsApiObserver(), roots, ignores, sink)
    raise WatchUnavailable(tr("This system doesn't report changes in folders."))


class ObserverWatch:
    """Watches each root recursively with one watchdog observer."""

    def __init__(self, observer: "BaseObserver", roots: Sequence[str], ignores: Ignores, sink: Sink) -> None:
        from watchdog.events import FileSystemEvent, FileSystemEventHandler

        self._ignores = ignores
        self._sink = sink
        self._observer = observer

        class Handler(FileSystemEventHandler):
            def __init__(self, root: str, report: Callable[[str, FileSystemEvent], None]) -> None:
                self._root, self._report = root, report

            def on_any_event(self, event: FileSystemEvent) -> None:
                self._report(self._root, event)

        for root in roots:
            observer.schedule(Handler(root, self._report), root, recursive=True)
        observer.start()

    def flush(self, seconds: float) -> bool:
        return False

    def close(self) -> None:
        self._observer.stop()
        self._observer.join(_STOP_SECONDS)

    def _report(self, root: str, event: "FileSystemEvent") -> None:
        if event.event_type in _IGNORED_EVENTS or (event.is_directory and event.event_type == "modified"):
            return
        for path in filter(None, (os.fsdecode(event.src_path), os.fsdecode(event.dest_path))):
            if not self._ignored(root, path, event.is_directory):
                self._sink.changed(path)

    def _ignored(self, root: str, path: str, is_dir: bool) -> bool:
        """Whether the path, or a folder above it, is ignored."""
        names = os.path.relpath(path, root).split(os.sep)
        if names[0] in (os.curdir, os.pardir):  # the root itself, or moved out of it
            return names[0] == os.pardir
        folders = ("/".join(names[:depth]) for depth in range(1, len(names)))
        return any(self._ignores(root, folder, True) for folder in folders) or self._ignores(
            root, "/".join(names), is_dir
        )


class InotifyWatch:
    """Watches all roots with one inotify queue."""

    def __init__(self, roots: Sequence[str], ignores: Ignores, sink: Sink) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self._flushing = threading.Lock()
        self._reader = InotifyFD()
        self._reader.start()
        self._trees = [_InotifyTree(self._reader, root, ignores, sink) for root in roots]
        try:
            for tree in self._trees:
                tree.watch_all()
        except BaseException:
            self.close()
            raise

    def flush(self, seconds: float) -> bool:
        with self._flushing:  # two markers at a time would share a descriptor, and so an event
            return _Marker(self._reader).wait(seconds)

    def close(self) -> None:
        for tree in self._trees:
            tree.close()
        self._reader.stop()
        self._reader.join(_STOP_SECONDS)


class _Marker:
    """Triggers an inotify event of our own, to know that all earlier events have been read."""

    def __init__(self, reader: "InotifyFD") -> None:
        self._reader = reader
        self._read = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Wait for the event; returns whether it was read in time."""
        from watchdog.observers.inotify_c import CallbackId, InotifyConstants, Mask

        number = CallbackId(0)
        path = os.fsencode(os.devnull)
        try:
            descriptor = self._reader.add_callback(path, Mask(InotifyConstants.IN_OPEN), self, number)
        except OSError:  # the watches have run out, or the reader was closed
            return False
        if descriptor < 0:
            return False
        try:
            os.close(os.open(path, os.O_RDONLY))
            return self._read.wait(seconds)
        finally:
            with contextlib.suppress(OSError):
                self._reader.remove_callbacks([(descriptor, number)])

    # --- called by watchdog's reader ----

    def on_event(self, event: "InotifyEvent") -> None:
        self._read.set()

    def on_watch_deleted(self, wd: "WatchDescriptor") -> None:
        """Do nothing: the reader was closed."""

    def on_queue_overflow(self) -> None:
        """Do nothing: the trees report the overflow."""


class _InotifyTree:
    """Manages the inotify watches of one root; called by watchdog's reader thread."""

    _ids = itertools.count()

    def __init__(self, reader: "InotifyFD", root: str, ignores: Ignores, sink: Sink) -> None:
        from watchdog.observers.inotify_c import InotifyConstants as In
        from watchdog.observers.inotify_c import Mask

        self._reader = reader
        self._ignores = ignores
        self._sink = sink
        self._only = None if os.path.isdir(root) else os.path.basename(root)
        """Name of the root if it is a file, else None. The folder is watched, since editors replace files."""
        self._root = root if self._only is None else os.path.dirname(root)
        self._prefix = os.path.join(self._root, "")
        self._came = In.IN_CREATE | In.IN_MOVED_TO
        self._removal_events = In.IN_DELETE | In.IN_MOVED_FROM
        watched_events = self._came | self._removal_events | In.IN_MODIFY | In.IN_CLOSE_WRITE | In.IN_ATTRIB
        self._mask = Mask(watched_events | In.IN_ONLYDIR | In.IN_DONT_FOLLOW | In.IN_EXCL_UNLINK)
        self._lock = threading.RLock()
        self._closed = False
        self._folders: dict[WatchDescriptor, str] = {}
        self._watches: dict[str, tuple[WatchDescriptor, CallbackId]] = {}

    def watch_all(self) -> None:
        """Watch the root and its subfolders that are not ignored. Raises OSError."""
        if self._only is None:
            self._watch(self._root, report=False)
        else:
            self._add(self._root)

    def close(self) -> None:
        with self._lock:  # after this no event uses the reader, which closes its file next
            self._closed = True

    # --- called by watchdog's reader ----

    def on_event(self, event: "InotifyEvent") -> None:
        with self._lock:
            folder = self._folders.get(event.wd)
            if self._closed or folder is None or not event.name:
                return
            name = os.fsdecode(event.name)
            path = os.path.join(folder, name)
            if self._only is not None:
                if name == self._only:
                    self._sink.changed(path)
                return
            is_dir = event.is_directory
            if self._ignored(path, is_dir):
                return
            if is_dir and event.mask & self._removal_events:
                self._forget(path)
            if is_dir and event.mask & self._came:
                self._watch_new(path)
            self._sink.changed(path)

    def on_watch_deleted(self, wd: "WatchDescriptor") -> None:
        with self._lock:
            folder = self._folders.pop(wd, None)
            if self._closed or folder is None:
                return
            if self._watches.get(folder, (None, None))[0] == wd:
                del self._watches[folder]
            if folder == self._root:
                self._sink.lost()

    def on_queue_overflow(self) -> None:
        if not self._closed:
            self._sink.lost()

    def _ignored(self, path: str, is_dir: bool) -> bool:
        return self._ignores(self._root, path.removeprefix(self._prefix), is_dir)

    # --- watches ---

    def _watch_new(self, path: str) -> None:
        try:
            self._watch(path, report=True)
        except OSError as error:
            self._sink.failed(error)

    def _watch(self, top: str, *, report: bool) -> None:
        """Watch a folder and its subfolders. `report`: report their contents, which may be older than the watch."""
        waiting = [top]
        while waiting and not (self._closed or self._sink.stopping):
            folder = waiting.pop()
            if not self._add(folder):
                continue
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        is_dir = entry.is_dir(follow_symlinks=False)
                        # A link may be ignored by its name, but the rules must have seen it before it is deleted.
                        if not (is_dir or report or entry.is_symlink()) or self._ignored(entry.path, is_dir):
                            continue
                        if is_dir:
                            waiting.append(entry.path)
                        if report:
                            self._sink.changed(entry.path)
            except OSError:
                continue  # deleted meanwhile, or unreadable: discovery reports it

    def _add(self, folder: str) -> bool:
        """Add a watch for one folder.

        Returns False if the folder has one or can't have any. Raises OSError when watches run out.
        """
        from watchdog.observers.inotify_c import CallbackId

        with self._lock:
            if self._closed or folder in self._watches:
                return False
            # Each watch has its own number: a folder that reappears under a new name has the same descriptor.
            number = CallbackId(next(self._ids))
            try:
                descriptor = self._reader.add_callback(os.fsencode(folder), self._mask, self, number)
            except OSError as error:
                if folder == self._root or error.errno in _LIMIT_ERRORS:
                    raise
                return False
            if descriptor < 0:  # watchdog's code for a folder that can't be read
                self._reader.remove_callbacks([(descriptor, number)])
                return False
            self._folders[descriptor] = folder
            self._watches[folder] = (descriptor, number)
            return True

    def _forget(self, path: str) -> None:
        """Drop the watches of a folder that was moved or removed, and of its subfolders."""
        below = path + os.sep
        gone = [folder for folder in self._watches if folder == path or folder.startswith(below)]
        for folder in gone:
            descriptor, number = self._watches.pop(folder)
            if self._folders.get(descriptor) == folder:
                del self._folders[descriptor]
            self._reader.remove_callbacks([(descriptor, number)])
