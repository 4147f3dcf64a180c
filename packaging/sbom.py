#!/usr/bin/env python3
"""Prints what the packages are made of, as CycloneDX 1.5: packaging/sbom.py BUILD FOLDER.

BUILD is the build tree of the programs, whose static libraries are Debian's; FOLDER has the Python
packages.
"""

import json
import os
import re
import subprocess
import sys
import time
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

STATIC = re.compile(r"/usr/lib/\S+?\.a\b")
ALSO = ("libstdc++-{}-dev", "libgcc-{}-dev", "nlohmann-json3-dev")  # found by the compiler itself
FORMAT = "${Package}\t${source:Package}\t${source:Version}\n"


def debian_packages(build: Path) -> list[dict[str, Any]]:
    """Returns the source packages whose static libraries or headers the programs have."""
    libraries = sorted(set(STATIC.findall((build / "build.ninja").read_text())))
    names = ("*/" + os.path.basename(each) for each in libraries)  # some belong to /lib
    owners = output("dpkg-query", "--search", *names).splitlines()
    gcc = output("g++", "-dumpversion").split(".")[0].strip()
    binary = {line.split(":")[0] for line in owners} | {name.format(gcc) for name in ALSO}
    sources = output("dpkg-query", "--show", "--showformat", FORMAT, *sorted(binary)).splitlines()
    found = {tuple(line.split("\t")[1:]) for line in sources}
    return [component(name, version, f"deb/debian/{name}") for name, version in sorted(found)]


def python_packages(folder: Path) -> list[dict[str, Any]]:
    found = sorted(distributions(path=[str(folder)]), key=lambda each: each.name.lower())
    return [python_package(each) for each in found if each.name != "natxy"]


def python_package(each: Distribution) -> dict[str, Any]:
    name = re.sub(r"[-_.]+", "-", each.name).lower()
    known = component(name, each.version, f"pypi/{name}")
    expression = each.metadata.get("License-Expression")
    return known | ({"licenses": [{"expression": expression}]} if expression else {})


def component(name: str, version: str, place: str) -> dict[str, Any]:
    purl = f"pkg:{place}@{quote(version, safe='+~')}"
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    build, folder = map(Path, sys.argv[1:])
    (natxy,) = distributions(name="natxy", path=[str(folder)])
    made = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
    own = component("natxy", natxy.version, "pypi/natxy") | {"type": "application"}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", made), "component": own},
        "components": [*debian_packages(build), *python_packages(folder)],
    }
    print(json.dumps(bill, indent=2))


if __name__ == "__main__":
    main()
