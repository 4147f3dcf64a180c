#!/usr/bin/env python3
"""Runs clang-tidy over all sources in the compilation database of build/dev.

Skips a source that was clean if neither it nor any header has changed since.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
BUILD = ROOT / "build" / "dev"
CLEAN = ROOT / "build" / "tidy"
CLANG_TIDY = ROOT / ".venv" / "bin" / "clang-tidy"


def sources() -> list[pathlib.Path]:
    database = json.loads((BUILD / "compile_commands.json").read_text())
    return sorted({pathlib.Path(entry["file"]) for entry in database})


def fingerprint(source: pathlib.Path, headers: bytes) -> pathlib.Path:
    """Returns the file that marks this source, with these headers and checks, as clean."""
    digest = hashlib.sha256(source.read_bytes() + headers).hexdigest()[:16]
    return CLEAN / f"{source.stem}-{digest}"


def headers() -> bytes:
    folders = [ROOT / "engine", ROOT / "gateway", ROOT / "plumbing"]
    files = sorted(path for folder in folders for path in folder.rglob("*.hpp"))
    return b"".join(path.read_bytes() for path in [*files, ROOT / ".clang-tidy"])


def tidy(source: pathlib.Path) -> tuple[pathlib.Path, str | None]:
    """Runs clang-tidy. Returns the source and the findings, None if there are none."""
    # The flags are gcc's; clang knows nearly all of them.
    command = [
        str(CLANG_TIDY),
        "-p",
        str(BUILD),
        "--quiet",
        "--extra-arg=-Wno-unknown-warning-option",
    ]
    ran = subprocess.run([*command, str(source)], capture_output=True, text=True)
    return source, None if ran.returncode == 0 else ran.stdout or ran.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="sources at once [default: 1]")
    jobs = parser.parse_args().jobs
    CLEAN.mkdir(parents=True, exist_ok=True)
    seen = headers()
    due = [source for source in sources() if not fingerprint(source, seen).exists()]
    complaints = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for source, complaint in pool.map(tidy, due):
            if complaint is None:
                fingerprint(source, seen).touch()
            else:
                complaints += 1
                print(complaint, flush=True)
    print(f"{len(due) - complaints} passed, {complaints} failed of {len(due)} changed sources")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
