"""Write the software bill of materials of a bundle as CycloneDX JSON, with each component's version, licence, origin.

    python packaging/building/bill.py BUNDLE FILE

The bill lists the components of the About dialog, read from the bundle itself, with the hashes of each package's files
in the lock. The result is validated against CycloneDX's own schema.
"""

import re
import sys
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component as Part
from cyclonedx.model.component import ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from gui.help.licences import PROGRAM, Component, read_components

LOCK = Path(__file__).resolve().parents[1] / "requirements-bundle.lock"


def bill_of(bundle: Path) -> str:
    """Return the bill for a bundle's library folder. Raises `ValueError` if the result is not valid CycloneDX."""
    hashes = _locked_hashes(LOCK.read_text("utf-8"))
    parts = {component.name: _part(component, hashes) for component in read_components(bundle)}
    program = parts.pop(PROGRAM)
    bill = Bom(components=parts.values())
    bill.metadata.component = program
    bill.register_dependency(program, parts.values())
    text: str = JsonV1Dot6(bill).output_as_string(indent=1)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong is not None:
        raise ValueError(f"The bill of materials is not valid: {wrong}")
    return text


def _part(component: Component, hashes: dict[str, list[str]]) -> Part:
    program = component.name == PROGRAM
    url = PackageURL("pypi", name=component.package, version=component.version) if component.package else None
    part = Part(
        name=component.name,
        version=component.version,
        type=ComponentType.APPLICATION if program else ComponentType.LIBRARY,
        bom_ref=f"{component.name}@{component.version}",
        description=component.about or None,
        purl=None if program else url,
        licenses=[LicenseFactory().make_from_string(component.licence)],
    )
    # The lock allows several files per package; which one was installed depends on the machine, so list all hashes.
    for value in hashes.get(component.package, ()):
        part.properties.add(Property(name="mnemoscope:lock:sha256", value=value))
    return part


def _locked_hashes(lock: str) -> dict[str, list[str]]:
    """Return the SHA-256 hashes of the files that the lock allows, by package."""
    hashes: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=[a-z0-9])", lock):
        name, pinned, _ = entry.partition("==")
        if pinned:
            hashes[name] = re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)
    return hashes


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(bill_of(Path(sys.argv[1])), "utf-8")
