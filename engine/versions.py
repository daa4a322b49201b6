"""Which version of the program this is."""

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    try:
        return version("mnemoscope")
    except PackageNotFoundError:
        return "in development"
