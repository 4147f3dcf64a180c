"""Makes the engine's command line from a testbed."""

import os
import re

from natxy.errors import ConfigurationError, EngineNotFound
from natxy.installed import find_program
from natxy.model.testbed import TesterSection

PROGRAM = "natxy-engine"
VARIABLE = "NATXY_ENGINE"


# What the engine names, by the key of the testbed that has it.
OPTION = re.compile(r"(?<![\w-])--(left|right|cores|main-cores|mtu|huge-pages|memory-mb|rx-queues|"
                    r"arrival-clock)(?![\w-])")  # fmt: skip
KEYS = {"left": "left.device", "right": "right.device", "mtu": "mtu_bytes"}
NEXT_HOP = re.compile(r"\bsides\.(left|right)\.next_hop\.mac\b")


def in_keys(message: str) -> str:
    """Returns a message of the engine with a testbed's keys in place of the engine's options."""
    message = NEXT_HOP.sub(r"tester.\1.next_hop_mac", message)
    return OPTION.sub(
        lambda found: f"tester.{KEYS.get(found[1], found[1].replace('-', '_'))}", message
    )


def find_engine() -> str:
    """Returns the engine's path; EngineNotFound if there is none."""
    try:
        return find_program(PROGRAM, VARIABLE)
    except FileNotFoundError as error:
        raise EngineNotFound(str(error)) from None


def engine_command(
    tester: TesterSection, namespace: str | None = None, *, records_fd: int | None = None
) -> list[str]:
    """Returns the command; `ip netns exec` becomes the engine, so their process is the same."""
    records = [] if records_fd is None else ["--records-fd", str(records_fd)]
    prefix = ["ip", "netns", "exec", namespace] if namespace else []
    return [*prefix, find_engine(), *_arguments(tester), *records]


def _arguments(tester: TesterSection) -> list[str]:
    arguments = ["--left", _device(tester, "left"), "--right", _device(tester, "right")]
    arguments += ["--cores", _list(tester.cores), "--mtu", str(tester.mtu_bytes)]
    arguments += ["--huge-pages", tester.huge_pages]
    if tester.main_cores is not None:
        arguments += ["--main-cores", _list(tester.main_cores)]
    if tester.arrival_clock != "auto":
        arguments += ["--arrival-clock", tester.arrival_clock]
    if tester.rx_queues != 1:
        arguments += ["--rx-queues", str(tester.rx_queues)]
    if tester.memory_mb is not None:
        _check_memory(tester.memory_mb)
        arguments += ["--memory-mb", str(tester.memory_mb)]
    return arguments


def _check_memory(memory_mb: int) -> None:
    """ConfigurationError if this machine has less: the engine would try for a minute to get it."""
    there_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    if memory_mb > there_mb:
        raise ConfigurationError(
            f"tester.memory_mb: {memory_mb} is more than this machine has (expected at most "
            f"{there_mb})"
        )


def _device(tester: TesterSection, side: str) -> str:
    device: str | None = getattr(tester, side).device
    if device is None:
        raise ConfigurationError(
            f"tester.{side}.device: is missing, and no lab makes the port (expected a PCI address "
            "such as 0000:01:00.0 or a DPDK device such as net_af_xdp0,iface=eth1)"
        )
    return device


def _list(cpus: tuple[int, ...]) -> str:
    return ",".join(str(cpu) for cpu in cpus)
