"""The command `mnemoscope`: a subcommand runs without Qt; other arguments open the window or go to a running one."""

import atexit
import builtins
import functools
import gc
import importlib
import itertools
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from gui.app.single_instance import SingleInstance

_SWITCH_SECONDS = 0.0001
_MAX_GARBAGE = 200_000
"""New objects between two runs of the garbage collector."""
_OTHER_VERSION = "The Mnemoscope that runs is of another version: quit it, then start this one again."


class _LateModule(ModuleType):
    """Stands in for a module whose functions are only called: the first call imports it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*values: Any, **named: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*values, **named)

        return call


def _import_lightly() -> None:
    """Import msgspec, argparse and pathlib without modules that they import for functions that few commands call.

    Together these take a third as long as a keyword search; `typing` takes the place of `typing_extensions`. No record
    has a field of the types UUID and Decimal, which msgspec therefore doesn't know.
    """
    if "msgspec" in sys.modules:
        return
    late = ("decimal", "gettext", "msgspec._json_schema", "msgspec.inspect", "urllib.parse", "uuid")
    hidden = {name: _LateModule(name) for name in late if name not in sys.modules}
    if "uuid" in hidden:
        hidden["uuid"].SafeUUID = SimpleNamespace(unknown=None)  # type: ignore[attr-defined]  # read by the import
    if "typing_extensions" not in sys.modules:
        hidden["typing_extensions"] = None  # type: ignore[assignment]  # importing it fails
    sys.modules.update(hidden)
    try:
        import argparse  # noqa: F401
        import pathlib  # noqa: F401

        import msgspec

        del msgspec.inspect  # its schemas import the real one
    finally:
        for name in hidden:
            del sys.modules[name]


def import_qt() -> None:
    """Import Qt without its hook on `import`, and have the classes derived from Qt's report their errors.

    The hook reads and keeps the source of each module that is imported later, to see whether it selects features of
    PySide: a fifth of the time of the start, and 15 MB.
    """
    plain_import = builtins.__import__
    from PySide6.QtCore import QObject

    builtins.__import__ = plain_import

    def init_subclass(cls: type[QObject], /, **options: object) -> None:
        super(QObject, cls).__init_subclass__(**options)
        _guard_overrides(cls)

    QObject.__init_subclass__ = classmethod(init_subclass)  # type: ignore[assignment]


def _guard_overrides(cls: type) -> None:
    """Make overrides of Qt's methods report an error to `sys.excepthook`, and then do what Qt's do.

    PySide would raise it in the function that caused the call, such as `resize`, and on Python 3.11 it crashes if the
    error comes from C, as most do: it expects an exception object, which the interpreter makes only in `except`.
    """
    qt_class = _qt_class(cls)
    for owner in itertools.takewhile(lambda base: base is not qt_class, cls.__mro__):
        for name in _methods(qt_class).intersection(vars(owner)):
            method = vars(owner)[name]
            if isinstance(method, FunctionType) and not hasattr(method, "__wrapped__"):
                setattr(owner, name, _guarded(name, method))


@functools.cache
def _methods(qt_class: type) -> frozenset[str]:
    return frozenset(name for base in qt_class.__mro__ for name in vars(base) if name[0] != "_")


def _qt_class(cls: type) -> type:
    return next(base for base in cls.__mro__ if base.__module__.startswith("PySide6"))


def _guarded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method, ("__name__",))  # the others cost time at the start
    def guarded(self: object, *arguments: Any, **options: Any) -> Any:
        try:
            return method(self, *arguments, **options)
        except Exception as error:
            sys.excepthook(type(error), error, error.__traceback__)
            try:
                return getattr(_qt_class(type(self)), name)(self, *arguments, **options)
            except NotImplementedError:  # a pure virtual method
                return None

    return guarded


def prepare_for_window() -> None:
    """Set up Python for the window, and import Qt; nothing else should be imported before."""
    # A busy pool thread yields to the GUI thread after a tenth of a millisecond instead of five.
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.disable()  # imports leave no garbage; the window then collects it on its own thread
    _import_lightly()
    import_qt()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; the result is the exit code: 0, 1 for an error, 2 for wrong usage."""
    if argv is None:
        # Ctrl+C ends the process until it can be handled: raised within an import of C code, it can be lost there, and
        # leaves msgspec incomplete, which then crashes.
        _replace_interrupt_handler(signal.default_int_handler, signal.SIG_DFL)
        _restart_in_utf8_mode()
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Before numpy loads: its own threads would fight with the pool's.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if arguments and not arguments[0].startswith("-"):
        code = _run_verb(arguments, is_process=argv is None)
        if code is not None:
            return code

    _leave_missing_folder()
    start = None
    if arguments == ["--toggle"]:  # from a desktop shortcut: forwarded to the running program before anything is loaded
        start = _begin(arguments, None)
        if start.forwarded:
            return 0
    _import_lightly()
    from gui.app.command_line import parse_options

    try:
        options = parse_options(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    if start is None and not options.is_separate:
        start = _begin(arguments, options.config)
    if start is not None and start.forwarded:
        return 0
    if start is not None and start.refused:
        if sys.stderr is not None:
            sys.stderr.write(f"mnemoscope: {_OTHER_VERSION}\n")
        return 1
    prepare_for_window()
    from gui.app.application import run

    try:
        return run(options, start and start.address)
    finally:
        if start is not None:
            start.end()


def _replace_interrupt_handler(old: Any, new: Any) -> None:
    if signal.getsignal(signal.SIGINT) == old:  # else the parent process has Ctrl+C ignored
        signal.signal(signal.SIGINT, new)


def _begin(arguments: list[str], config: "Path | None") -> "SingleInstance":
    from gui.app.single_instance import begin  # not for help and errors of usage

    return begin(arguments, config)


def _run_verb(arguments: list[str], *, is_process: bool) -> int | None:
    """Run a command of the engine and return its exit code; None if there is no such command."""
    thresholds = gc.get_threshold()
    gc.set_threshold(_MAX_GARBAGE)  # imports leave none, but looking for it takes a twentieth of their time
    _import_lightly()
    from engine.cli import LONG_VERBS, VERBS
    from engine.cli import main as run_verb

    if arguments[0] not in VERBS:
        gc.set_threshold(*thresholds)
        return None
    if is_process:
        _replace_interrupt_handler(signal.SIG_DFL, signal.default_int_handler)
    atexit.register(gc.freeze)  # else Python looks through all modules for garbage before it ends
    code = run_verb(arguments)
    if is_process and arguments[0] not in LONG_VERBS:
        os._exit(code)  # it has closed and printed everything, and freeing each object takes half as long as the search
    return code


def _restart_in_utf8_mode() -> None:
    """Start this process again if the locale makes Python read file names in another encoding than UTF-8.

    The index stores names as text, and the files of a folder must have the same names however the program is started.
    """
    if sys.getfilesystemencoding() == "utf-8" or not sys.executable or getattr(sys, "frozen", False):
        return
    if os.environ.get("PYTHONUTF8") != "1":  # else an option of Python overrules it, and this would never end
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _leave_missing_folder() -> None:
    """Change to the home folder if the current folder was removed or is on an unplugged drive."""
    from pathlib import Path

    try:
        Path.cwd()
    except OSError:
        os.chdir(Path.home())


if __name__ == "__main__":
    if getattr(sys, "frozen", False):  # in a bundle, other processes of the program start here, too
        import multiprocessing

        multiprocessing.freeze_support()
    sys.exit(main())
