"""Chooses the driver of a testbed's device under test."""

from natxy.dut.addresses import AddressPlan
from natxy.dut.base import Dut
from natxy.dut.command import CommandDut
from natxy.dut.config import (
    MOST_B4S,
    CalibrationConfig,
    CommandConfig,
    DutConfig,
    DutSection,
    GuestConfig,
    NamespaceConfig,
    NoDutConfig,
    OnThisMachine,
    SshConfig,
)
from natxy.dut.none import NoDut
from natxy.dut.recipe import Recipe, drivers, read_recipe
from natxy.model.address_checks import SIDES
from natxy.model.source import Source
from natxy.model.subscribers import Mechanism
from natxy.model.testbed import Testbed

Key = tuple[str, ...]  # of a testbed


def dut_of(testbed: Testbed, source: Source) -> Dut:
    """Returns the driver, not started yet; ConfigurationError if `[dut]` is wrong."""
    if testbed.dut and "kind" not in testbed.dut:
        source.refuse(
            ("dut", "kind"),
            'is missing (expected "none", "namespace", "guest", "command", "ssh" or "calibration")',
        )
    section = {"kind": "none"} | testbed.dut
    if section["kind"] == "reference":
        source.refuse(("dut", "kind"), '"reference" is called "calibration" now')
    config: DutSection = source.validated(DutConfig, section, at=("dut",))
    plan = AddressPlan(
        left_ip_version=testbed.traffic.left_ip_version,
        right_ip_version=testbed.traffic.right_ip_version,
        networks=max(testbed.traffic.left_networks, testbed.traffic.right_networks),
        stateful=testbed.connections is not None,
        initiator=testbed.connections.initiator if testbed.connections else "left",
        subscribers=testbed.subscribers,
        left_vlans=testbed.tester.left.vlans,
        right_vlans=testbed.tester.right.vlans,
    )
    if isinstance(config, NamespaceConfig | GuestConfig):
        driver = drivers(config.kind)[config.driver]
        _check_plain(driver.in_lab.subscribers, testbed, source)
        if driver.stateful:
            _check_connections(f'dut.driver "{config.driver}"', testbed, source)
        if config.driver == "aftr":
            _check_b4s(testbed, source)
    own_cpus = config.cpus if isinstance(config, OnThisMachine) else ()
    if taken := [cpu for cpu in own_cpus if cpu in testbed.tester.cores]:
        source.refuse(
            ("dut", "cpus"), f"CPU {taken[0]} is one of tester.cores (expected other CPUs)"
        )
    # Each driver is imported where it is needed: together they take as long as all the rest.
    match config:
        case NamespaceConfig():
            from natxy.dut.namespace import NamespaceDut

            return NamespaceDut(config, plan, tester_cpus=testbed.tester.cores)
        case GuestConfig():
            from natxy.dut.guest import GuestDut

            return GuestDut(config, plan, tester_cpus=testbed.tester.cores)
        case CalibrationConfig():
            from natxy.dut.calibration import CalibrationDut

            _refuse_sections(_keys_of_ports("tunnel", testbed), testbed, source)
            _check_nat(config, testbed, source)
            return CalibrationDut(config, plan, tester_cpus=testbed.tester.cores)
        case CommandConfig():
            return CommandDut(config)
        case SshConfig():
            from natxy.dut.ssh import SshDut, check_installed

            check_installed()
            recipe = recipe_of(config, testbed, source)
            recipe.check_versions(f"dut.recipe {recipe.name}", plan)
            return SshDut(config, recipe.filled(config.variables, source))
        case NoDutConfig():
            return NoDut(config)


def recipe_of(config: SshConfig, testbed: Testbed, source: Source) -> Recipe:
    """Returns the recipe, whose path may be relative to the testbed's folder."""
    recipe = read_recipe(config.recipe, source)
    if recipe.stateful:
        _check_connections(f'dut.recipe "{recipe.name}"', testbed, source)
    return recipe


def _check_plain(mechanisms: tuple[Mechanism, ...], testbed: Testbed, source: Source) -> None:
    """Refuses frames that are not plain in a lab whose gateway would drop all of them.

    `mechanisms` are those whose subscribers the gateway serves.
    """
    where = _keys_of_ports("vlans", testbed)
    asked = testbed.subscribers
    if asked is not None and asked.mechanism not in mechanisms:
        if mechanisms:
            served = " or ".join(f'"{mechanism}"' for mechanism in mechanisms)
            source.refuse(
                ("subscribers", "mechanism"),
                f'"{asked.mechanism}" is not served by this gateway (expected {served})',
            )
        where.append(("subscribers",))
    _refuse_sections([*where, *_keys_of_ports("tunnel", testbed)], testbed, source)


def _check_b4s(testbed: Testbed, source: Source) -> None:
    """Refuses a testbed without subscribers, or with more than a guest has devices for."""
    asked = testbed.subscribers
    if asked is None:
        source.refuse(
            ("subscribers",),
            'is missing: dut.driver "aftr" needs it (expected mechanism = "ds-lite")',
        )
    if asked.count > MOST_B4S:
        source.refuse(
            ("subscribers", "count"),
            f'{asked.count} is more than dut.driver "aftr" serves (expected at most {MOST_B4S})',
        )


def _keys_of_ports(name: str, testbed: Testbed) -> list[Key]:
    """Returns a key of the tester's ports, for each port that has it."""
    return [("tester", side, name) for side in SIDES if getattr(testbed.tester.port(side), name)]


def _refuse_sections(where: list[Key], testbed: Testbed, source: Source) -> None:
    """Refuses what the gateway of a lab does not have."""
    if where:
        kind = testbed.dut["kind"]
        source.refuse(
            where[0],
            f'is not possible with dut.kind "{kind}", whose gateway has none (expected no '
            f"{where[0][-1]})",
        )


def _check_nat(config: CalibrationConfig, testbed: Testbed, source: Source) -> None:
    """Refuses a state without connections, and subscribers of a stateful gateway without state."""
    if config.nat is not None:
        _check_connections("dut.nat", testbed, source)
    subscribers = testbed.subscribers
    if subscribers is not None and subscribers.stateful and config.nat is None:
        source.refuse(
            ("dut", "nat"),
            f'is missing: subscribers.mechanism = "{subscribers.mechanism}" needs it (expected, '
            "for example, nat = {})",
        )


def _check_connections(what: str, testbed: Testbed, source: Source) -> None:
    """Refuses foreground through a stateful gateway without [connections].

    The gateway chooses addresses, so that the tester, without connections, would count every frame
    as misdelivered.
    """
    if testbed.connections is None and testbed.traffic.m:
        source.refuse(
            ("connections",),
            f"is missing, and {what} is stateful (expected for example count = 10000)",
        )
