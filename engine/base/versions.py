"""The version of this program."""

from importlib.metadata import PackageNotFoundError, version

from engine.base.language import marked


def program_version() -> str:
    try:
        return version("mnemoscope")
    except PackageNotFoundError:
        return marked("in development")
