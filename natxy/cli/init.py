"""`natxy init`: writes a testbed file with a comment on every key."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

from natxy.dut.recipe import drivers
from natxy.errors import ConfigurationError, unknown_value
from natxy.setting import Argument, Setting
from natxy.siitperf.testbed_toml import imported
from natxy.whole_file import write_whole

KINDS = ("pci", "namespace")
CORES = re.compile(r"^cores = \[[\d, ]+\]", re.MULTILINE)


def init(
    file: Annotated[Path, Argument("file", "Testbed file to write", "FILE")],
    kind: Annotated[
        str,
        Setting(
            "kind",
            "Kind of testbed: pci (two NICs) or namespace (a lab on this machine)",
            "KIND",
            short="pci (two NICs) or namespace (a lab on this machine)",
        ),
    ] = "pci",
    from_: Annotated[
        Path | None,
        Setting(
            "from_",
            "Configuration of siitperf to convert, instead of a template",
            "SIITPERF.CONF",
            option="from",
            short="Configuration of siitperf to convert",
        ),
    ] = None,
) -> None:
    """Write a testbed file with a comment on every key.

    Examples:
        natxy init --kind namespace lab.toml
        natxy init nics.toml
        natxy init --from siitperf.conf testbed.toml
    """
    if from_ is not None and kind != KINDS[0]:
        raise ConfigurationError(
            f"--kind: {kind} is not possible with --from (expected {KINDS[0]}, or no --kind)"
        )
    text = _template(kind) if from_ is None else imported(from_, _warn)
    write_whole(file, text, new=True)
    print(f"Wrote {file}. Next: natxy trial {shlex.quote(str(file))} --rate 1000")


def _template(kind: str) -> str:
    if kind not in KINDS:
        raise unknown_value("--kind", kind, KINDS)
    text = re.sub(r"# include (\S+)\n", lambda found: _part(found[1]), _part(f"{kind}.toml"))
    text = text.replace("# drivers\n", "".join(_drivers()))
    return _fitting(text, sorted(os.sched_getaffinity(0)))


def _fitting(text: str, cpus: Sequence[int]) -> str:
    """Returns the template with CPUs that this machine has; the first is left to other work."""
    wanted = re.findall(r"\d+", next(iter(CORES.findall(text))))
    if set(map(int, wanted)) <= set(cpus):
        return text
    chosen = (cpus[1:] or cpus)[-len(wanted) :]
    return CORES.sub(f"cores = [{', '.join(map(str, chosen))}]", text)


def _drivers() -> Iterator[str]:
    """Yields comments, each with a driver of a lab and its gateway."""
    for name, recipe in drivers("namespace").items():
        yield f'#   "{name}": {recipe.title}\n'


def _part(name: str) -> str:
    return resources.files("natxy.cli").joinpath("testbeds", name).read_text("utf-8")


def _warn(sentence: str) -> None:
    print(f"Warning: {sentence}", file=sys.stderr)
