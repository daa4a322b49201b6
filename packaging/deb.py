"""Build a package for Debian-based systems from the bundle: `dist/mnemoscope_VERSION_ARCHITECTURE.deb`.

The bundle is installed in /usr/lib/mnemoscope, its `share` in /usr/share. Libraries that Debian provides are left out;
the package depends on Debian's packages instead, in the versions that dpkg-shlibdeps finds. The build validates the
menu entry, its description and the manual page, and fails on any lintian error.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tomllib
from email.utils import formatdate
from pathlib import Path

import bundle
import debian
import environment

MAINTAINER = "Mnemoscope maintainers <maintainers@users.noreply.mnemoscope.org>"
_TREE = environment.ROOT / "build" / "deb"
_LINUX = environment.ROOT / "packaging" / "linux"
_HOME = Path("usr/lib/mnemoscope")
_TOOLS = {
    "dpkg-shlibdeps": "dpkg-dev",
    "lintian": "lintian",
    "desktop-file-validate": "desktop-file-utils",
    "appstreamcli": "appstream",
    "man": "man-db",
}
_SYSTEM_FOLDERS = ("/lib", "/usr/lib")
_OWN = ("libpython",)
"""Libraries that stay in the package although Debian provides them: another release has another Python."""


def build() -> Path:
    """Build the package from a bundle of the current sources, and check it. Exits on failure."""
    if shutil.which("dpkg-deb") is None:
        sys.exit("A Debian package is built with Debian's own tools (dpkg-deb), which are not here.")
    debian.ensure(
        "what builds and checks the package", [name for tool, name in _TOOLS.items() if not shutil.which(tool)]
    )
    bundle.ensure()
    print("Building the package …", file=sys.stderr, flush=True)
    shutil.rmtree(_TREE, ignore_errors=True)
    _lay_out()
    control = _control()
    (_TREE / "DEBIAN").mkdir()
    (_TREE / "DEBIAN" / "control").write_text(control, "utf-8")
    (_TREE / "DEBIAN" / "md5sums").write_text(_sums(), "utf-8")
    _set_modes()
    package = bundle.DIST / f"mnemoscope_{_version()}_{_architecture()}.deb"
    _run("dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", str(_TREE), str(package))
    _check(package)
    size = bundle.megabytes(package.stat().st_size)
    print(f"{package}: {size}, checked; install it with: sudo apt install {package}")
    return package


def _lay_out() -> None:
    home = _TREE / _HOME
    shutil.copytree(bundle.FOLDER, home, symlinks=True, ignore=shutil.ignore_patterns("share"))
    shutil.copytree(bundle.FOLDER / "share", _TREE / "usr/share")
    for library in _of_debian(home / "_internal"):
        library.unlink()
    (_TREE / "usr/bin").mkdir()
    (_TREE / "usr/bin/mnemoscope").symlink_to(Path("../lib/mnemoscope/mnemoscope"))
    documents = _TREE / "usr/share/doc/mnemoscope"
    documents.mkdir(parents=True)
    shutil.copyfile(_LINUX / "copyright", documents / "copyright")
    _compress(documents / "changelog.gz", _changelog())
    _compress(documents / "NEWS.md.gz", (environment.ROOT / "CHANGELOG.md").read_text("utf-8"))
    manual = _TREE / "usr/share/man/man1/mnemoscope.1"
    _compress(manual.with_suffix(".1.gz"), manual.read_text("utf-8"))
    manual.unlink()
    overrides = _TREE / "usr/share/lintian/overrides"
    overrides.mkdir(parents=True)
    shutil.copyfile(_LINUX / "lintian-overrides", overrides / "mnemoscope")


def _of_debian(folder: Path) -> list[Path]:
    """Return the libraries that were copied from this system, rather than from a Python package."""
    return [
        path
        for path in folder.glob("*.so*")
        if not path.is_symlink()
        and not path.name.startswith(_OWN)
        and any(Path(top, str(_multiarch()), path.name).exists() for top in _SYSTEM_FOLDERS)
    ]


def _control() -> str:
    project = tomllib.loads((environment.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    size = sum(-(-path.lstat().st_size // 1024) for path in _TREE.rglob("*") if path.is_file())
    return (
        f"Package: mnemoscope\nVersion: {project['version']}\nArchitecture: {_architecture()}\n"
        f"Maintainer: {MAINTAINER}\nInstalled-Size: {size}\nDepends: {_depends()}\nRecommends: fonts-dejavu-core\n"
        "Suggests: gnome-keyring | kwalletmanager\nSection: utils\nPriority: optional\n"
        "Description: search notes and past AI sessions, and see inside the index\n"
        " Mnemoscope searches a folder of Markdown notes and past sessions with AI\n"
        " agents, by words and by meaning, and shows each hit in its file with the lines\n"
        " highlighted. It keeps its index up to date in the background and shows what\n"
        " the index does and why.\n"
        " .\n"
        " The model for the meaning is built in and works without a network. Notes are\n"
        " only ever read.\n"
    )


def _depends() -> str:
    """Return the dependencies for all linked libraries, as found by dpkg-shlibdeps."""
    home = _TREE / _HOME
    ours = [path for path in home.rglob("*") if _is_elf(path)]
    # dpkg-shlibdeps requires a source package's control file, but reads nothing from it.
    (_TREE.parent / "debian").mkdir(exist_ok=True)
    (_TREE.parent / "debian" / "control").write_text("Source: mnemoscope\n\nPackage: mnemoscope\nArchitecture: any\n")
    own_folders = sorted({str(path.parent) for path in ours})
    done = subprocess.run(
        ["dpkg-shlibdeps", "-O", "--ignore-missing-info", *(f"-l{folder}" for folder in own_folders), *map(str, ours)],
        cwd=_TREE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(_TREE.parent / "debian")
    if done.returncode != 0:
        sys.exit(f"dpkg-shlibdeps failed:\n{done.stderr}")
    depends = done.stdout.strip().removeprefix("shlibs:Depends=")
    return ", ".join(name for name in depends.split(", ") if not name.startswith("mnemoscope"))


def _is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _changelog() -> str:
    """Return a Debian changelog that refers to NEWS.md. Its date is that of the sources."""
    stamp = os.environ.get("SOURCE_DATE_EPOCH") or _output_of("git", "log", "-1", "--format=%ct", cwd=environment.ROOT)
    date = formatdate(int(stamp or 0))
    return f"mnemoscope ({_version()}) unstable; urgency=medium\n\n  * See NEWS.md.gz.\n\n -- {MAINTAINER}  {date}\n"


def _sums() -> str:
    files = sorted(path for path in (_TREE / "usr").rglob("*") if path.is_file() and not path.is_symlink())
    names = [path.relative_to(_TREE).as_posix() for path in files]
    return _output_of("md5sum", *names, cwd=_TREE) + "\n"


def _set_modes() -> None:
    """Set file modes as Debian's policy requires, whatever the build's umask: libraries are not executable."""
    for path in _TREE.rglob("*"):
        if not path.is_symlink():
            program = path == _TREE / _HOME / "mnemoscope"
            path.chmod(0o755 if path.is_dir() or program else 0o644)


def _check(package: Path) -> None:
    share = bundle.FOLDER / "share"
    _run("desktop-file-validate", str(share / "applications" / "mnemoscope.desktop"))
    _run("appstreamcli", "validate", "--no-net", str(share / "metainfo" / "org.mnemoscope.Mnemoscope.metainfo.xml"))
    warnings = _output_of("man", "--warnings", "-l", str(share / "man" / "man1" / "mnemoscope.1"), errors=True)
    if warnings:
        sys.exit(f"The manual page is not as it should be:\n{warnings}")
    # lintian refuses to run as root without this option.
    _run("lintian", "--allow-root", "--fail-on", "error", str(package))


def _run(*command: str) -> None:
    """Run a command; its output is shown only on failure."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed:\n{done.stdout}")


def _output_of(*command: str, cwd: Path | None = None, errors: bool = False) -> str:
    environ = os.environ | {"MANPAGER": "cat"}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    return (done.stderr if errors else done.stdout).strip()


def _compress(path: Path, text: str) -> None:
    """Write gzip data without a time stamp, so that the same text yields the same file."""
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _version() -> str:
    version: str = tomllib.loads((environment.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


def _architecture() -> str:
    return _output_of("dpkg", "--print-architecture")


def _multiarch() -> str:
    return _output_of("dpkg-architecture", "-qDEB_HOST_MULTIARCH")
