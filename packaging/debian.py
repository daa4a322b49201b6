"""Install packages on Debian-based systems, given the rights."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

import environment


def can_install() -> bool:
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def ensure(purpose: str, packages: Iterable[str]) -> None:
    """Install missing packages as root on Debian-based systems; otherwise print the command and exit."""
    names = list(packages)
    if not names:
        return
    if not can_install():
        sys.exit(f"This system is missing {purpose}; install it with: sudo apt-get install -y {' '.join(names)}")
    install(purpose, names)


def install(purpose: str, packages: Iterable[str]) -> None:
    """Install the packages by apt-get; on failure, print its output and exit."""
    names = list(packages)
    print(f"Installing {purpose}: {' '.join(names)} …", file=sys.stderr, flush=True)
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *names]):
        with environment.alone():
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
