"""The Windows registry key of programs that start with a session; the task manager may disable entries."""

import subprocess
import sys

_RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
_APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
_NAME = "Mnemoscope"

if sys.platform == "win32":
    import winreg

    class RunKey:
        """The `Run` key of the current user."""

        def __init__(self, words: list[str]) -> None:
            self._words = words

        def is_on(self) -> bool:
            """The task manager's own list marks a disabled entry with an odd first byte."""
            approved = _value(_APPROVED)
            off = isinstance(approved, bytes) and bool(approved) and bool(approved[0] & 1)
            return _value(_RUN) is not None and not off

        def set_on(self, on: bool) -> None:
            _delete(_APPROVED)
            if not on:
                _delete(_RUN)
                return
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, _RUN, 0, winreg.KEY_SET_VALUE) as key:
                winreg.SetValueEx(key, _NAME, 0, winreg.REG_SZ, subprocess.list2cmdline(self._words))

    def _value(path: str) -> object:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
                return winreg.QueryValueEx(key, _NAME)[0]
        except FileNotFoundError:
            return None

    def _delete(path: str) -> None:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path, 0, winreg.KEY_SET_VALUE) as key:
                winreg.DeleteValue(key, _NAME)
        except FileNotFoundError:
            return
