"""What tests of doctor share with others."""

from pathlib import Path

from natxy.doctor.finding import Machine


def made(root: Path, files: dict[str, str]) -> Machine:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return Machine(root)
