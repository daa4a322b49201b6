"""Network drives are distinguished from local disks."""

from pathlib import Path

import pytest

from engine.store import index_paths

MOUNTS = r"""sysfs /sys sysfs rw 0 0
/dev/sda1 / ext4 rw 0 0
server:/export /mnt/team nfs4 rw,vers=4.2 0 0
/dev/sdb1 /mnt/team/local ext4 rw 0 0
//nas/a\040b /mnt/my\040nas cifs rw 0 0
auto /net autofs rw 0 0
host:/x /net nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"),
        ("/", "ext4"),
        ("/mnt/team", "nfs4"),
        ("/mnt/team/notes/x", "nfs4"),
        ("/mnt/teams", "ext4"),
        ("/mnt/team/local/x", "ext4"),
        ("/mnt/my nas/x", "cifs"),
        ("/net/x", "nfs"),
    ],
)
def test_the_innermost_and_last_mount_decides(path: str, kind: str) -> None:
    assert index_paths.file_system(MOUNTS, path) == kind


def test_unknown_mount_has_no_file_system() -> None:
    assert index_paths.file_system("", "/home") == ""


@pytest.mark.parametrize(("kind", "expected"), [("nfs", True), ("smb3", True), ("ext4", False), ("btrfs", False)])
def test_future_folder_uses_parent_drive(tmp_path: Path, monkeypatch, kind: str, expected: bool) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nx {tmp_path.resolve()} {kind} rw 0 0\n")
    monkeypatch.setattr(index_paths, "_MOUNTS", mounts)
    monkeypatch.setattr(index_paths.sys, "platform", "linux")
    assert index_paths.on_network_drive(tmp_path / "not" / "yet") is expected


def test_network_drive_check_works_on_this_system(tmp_path: Path) -> None:
    assert index_paths.on_network_drive(tmp_path) in (True, False)
