"""What tests of siitperf share with others."""

from collections.abc import Callable
from pathlib import Path

from natxy.cli import run_command
from natxy.siitperf.arguments import Arguments, read_arguments
from natxy.siitperf.configuration import Configuration, read_configuration

CONF = """\
IPv6-L-Real 2001:2::2
IPv4-L-Virt 198.18.0.2
IPv4-R-Real 198.19.0.2
IPv6-R-Virt 2001:2:0:1000::2
MAC-L-Tester a0:36:9f:c5:fa:1c
MAC-L-DUT a0:36:9f:c5:e6:58
MAC-R-DUT a0:36:9f:c5:e6:5a
CPU-L-Send 0
CPU-R-Recv 0
CPU-R-Send 0
CPU-L-Recv 0
"""
PLACE = "[tester]\ncores = [0]\n[tester.left]\ndevice = 'a'\n[tester.right]\ndevice = 'b'\n"


def siitperf(words: str) -> int:
    return run_command(["siitperf", *words.split()])


def free_of_info(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("Info: ")]


def configured(
    folder: Path, text: str, warn: Callable[[str], None] = lambda _: None
) -> Configuration:
    path = folder / "siitperf.conf"
    path.write_text(text)
    return read_configuration(path, warn)


def arguments_of(configuration: Configuration, words: str) -> Arguments:
    return read_arguments("tp", words.split(), configuration, lambda _: None)
