"""Chooses the driver of a testbed's device under test."""

from natxy.dut.addresses import AddressPlan
from natxy.dut.base import Dut
from natxy.dut.calibration import CalibrationDut
from natxy.dut.command import CommandDut
from natxy.dut.config import (
    GUEST_STATEFUL,
    STATEFUL,
    CalibrationConfig,
    CommandConfig,
    DutConfig,
    GuestConfig,
    NamespaceConfig,
)
from natxy.dut.guest import GuestDut
from natxy.dut.namespace import NamespaceDut
from natxy.dut.none import NoDut
from natxy.model.source import Source
from natxy.model.testbed import Testbed


def dut_of(testbed: Testbed, source: Source) -> Dut:
    """Returns the driver, not started yet; ConfigurationError if `[dut]` is wrong."""
    if testbed.dut and "kind" not in testbed.dut:
        source.refuse(
            ("dut", "kind"),
            'is missing (expected "none", "namespace", "guest", "command" or "calibration")',
        )
    section = {"kind": "none"} | testbed.dut
    if section["kind"] == "reference":
        source.refuse(("dut", "kind"), '"reference" is called "calibration" now')
    config: NamespaceConfig | GuestConfig | CommandConfig | CalibrationConfig | None
    config = source.validated(DutConfig, section, at=("dut",))
    plan = AddressPlan(
        left_ip_version=testbed.traffic.left_ip_version,
        right_ip_version=testbed.traffic.right_ip_version,
        networks=max(testbed.traffic.left_networks, testbed.traffic.right_networks),
        stateful=testbed.connections is not None,
        initiator=testbed.connections.initiator if testbed.connections else "left",
    )
    match config:
        case NamespaceConfig():
            _check_connections(config.driver, config.driver in STATEFUL, testbed, source)
            return NamespaceDut(config, plan, tester_cpus=testbed.tester.cores)
        case GuestConfig():
            _check_connections(config.driver, config.driver in GUEST_STATEFUL, testbed, source)
            return GuestDut(config, plan, tester_cpus=testbed.tester.cores)
        case CalibrationConfig():
            return CalibrationDut(config, plan, tester_cpus=testbed.tester.cores)
        case CommandConfig():
            return CommandDut(config)
        case _:
            return NoDut()


def _check_connections(driver: str, stateful: bool, testbed: Testbed, source: Source) -> None:
    """Refuses foreground through a stateful driver without [connections].

    The gateway chooses addresses, so that the tester, without connections, would count every frame
    as misdelivered.
    """
    if stateful and testbed.connections is None and testbed.traffic.m:
        source.refuse(
            ("connections",),
            f'is missing, and dut.driver "{driver}" is stateful (expected for example '
            "count = 10000)",
        )
