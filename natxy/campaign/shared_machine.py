"""What several testbeds on this machine share: cells at the same time disturb one another.

These are CPUs, and the size of the kernel's connection tracking table, which all labs share.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from natxy.campaign.notice import Event, Notice
from natxy.campaign.plan import CampaignPlan
from natxy.dut.config import LABS
from natxy.dut.cpus import gateway_cpu
from natxy.dut.recipe import drivers
from natxy.model.source import Source
from natxy.model.testbed import Testbed

TESTER, GATEWAY = "tester", "gateway"
Uses = dict[int, set[str]]  # of each CPU


def shared_cpus(plans: Mapping[int, CampaignPlan]) -> Iterator[Notice]:
    """Yields a notice for each CPU that several testbeds use; `plans` are those of the testbeds
    on this machine, by number."""
    found: dict[int, list[str]] = {}
    for number, plan in plans.items():
        for cpu, uses in sorted(_uses(plan).items()):
            what = " and ".join(sorted(uses))
            found.setdefault(cpu, []).append(f"the {what} of testbed {number}")
    for cpu, who in sorted(found.items()):
        if len(who) > 1:
            yield Notice.of(Event.SHARED_CPU, cpu=cpu, who=tuple(who))


def _uses(plan: CampaignPlan) -> Uses:
    uses: Uses = {}
    for testbed in _testbeds(plan):
        for cpu in (*testbed.tester.cores, *(testbed.tester.main_cores or ())):
            uses.setdefault(cpu, set()).add(TESTER)
        gateway = _gateway_cpu(testbed.dut, testbed.tester.cores)
        if gateway is not None:
            uses.setdefault(gateway, set()).add(GATEWAY)
    return uses


def _testbeds(plan: CampaignPlan) -> Iterator[Testbed]:
    """Yields the testbeds of the cells; those of later rounds are the same."""
    for cell in plan.cells:
        if cell.round == 1:
            testbed: Testbed = Source(name=cell.title).validated(Testbed, cell.testbed)
            yield testbed


def _gateway_cpu(dut: Mapping[str, Any], tester_cpus: tuple[int, ...]) -> int | None:
    """Returns the CPU of a lab's gateway; None for another gateway, or without a free CPU."""
    if dut.get("kind") not in LABS:
        return None
    given: int | None = dut.get("gateway_cpu")
    return gateway_cpu(None, tester_cpus) if given is None else given


def shared_tables(plans: Mapping[int, CampaignPlan]) -> Iterator[Notice]:
    """Yields a notice if cells that may run at once need other sizes; `plans` are those of the
    testbeds on this machine, by number."""
    tracking = [
        {_sizes(cell.testbed["dut"]) for cell in plan.cells if _tracks(cell.testbed.get("dut", {}))}
        for plan in plans.values()
    ]
    sizes: set[tuple[Any, Any]] = set().union(*tracking)
    if sum(map(bool, tracking)) > 1 and len(sizes) > 1:
        yield Notice.of(Event.SHARED_TABLE, sizes=len(sizes))


def _sizes(device: Mapping[str, Any]) -> tuple[Any, Any]:
    entries = device.get("conntrack_entries")
    return entries, device.get("hash_size", entries)


def _tracks(device: Mapping[str, Any]) -> bool:
    driver = drivers("namespace").get(device.get("driver", ""))
    return device.get("kind") == "namespace" and driver is not None and driver.stateful
