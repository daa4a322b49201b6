"""Downloads Debian packages whose text is searched; none of it is part of this project."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path


def can_download() -> bool:
    return shutil.which("apt-get") is not None and shutil.which("dpkg-deb") is not None


def unpacked(package: str, sha256: str, cache: Path) -> Path:
    """Return the folder of a package's files below `cache`, downloaded unless an earlier run did.

    `package`: name=version. `sha256`: checksum of the archive.
    """
    target = cache / "packages" / sha256
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            try:
                subprocess.run(["apt-get", "download", "-qq", package], cwd=scratch, check=True, capture_output=True)
                (archive,) = Path(scratch).glob("*.deb")
                if hashlib.sha256(archive.read_bytes()).hexdigest() != sha256:
                    raise SystemExit(f"The checksum of {package} doesn't match.")
                subprocess.run(["dpkg-deb", "--extract", archive.name, "out"], cwd=scratch, check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise SystemExit(f"Can't download {package} with apt-get: {error}") from error
            Path(scratch, "out").rename(target)
    return target
