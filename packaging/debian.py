"""Packages of Debian's kin, for those who may install them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable


def can_install() -> bool:
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def ensure(purpose: str, packages: Iterable[str]) -> None:
    """Install what is missing, as root on Debian's kin; else say how and exit. Without any nothing is done."""
    names = list(packages)
    if not names:
        return
    if not can_install():
        sys.exit(f"This system lacks {purpose}; install it with: sudo apt-get install -y {' '.join(names)}")
    install(purpose, names)


def install(purpose: str, packages: Iterable[str]) -> None:
    """Have apt-get install them; where it fails, its output is shown and the program ends."""
    names = list(packages)
    print(f"Installing {purpose}: {' '.join(names)} …", file=sys.stderr, flush=True)
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *names]):
        done = subprocess.run(
            command,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != 0:
            sys.stderr.write(done.stdout.decode(errors="replace"))
            sys.exit(f"`{' '.join(command)}` failed; the reason is above.")
