"""Sizes of the kernel's connection tracking table, which all labs of a machine share."""

from collections.abc import Iterator, Mapping
from typing import Any

from natxy.campaign.plan import CampaignPlan
from natxy.dut.lab_drivers import lab_drivers


def shared_tables(plans: Mapping[int, CampaignPlan]) -> Iterator[str]:
    """Yields a sentence if cells that may run at once need other sizes; `plans` are those of the
    testbeds on this machine, by number."""
    tracking = [
        {_sizes(cell.testbed["dut"]) for cell in plan.cells if _tracks(cell.testbed.get("dut", {}))}
        for plan in plans.values()
    ]
    sizes: set[tuple[Any, Any]] = set().union(*tracking)
    if sum(map(bool, tracking)) > 1 and len(sizes) > 1:
        yield (
            f"Cells set {len(sizes)} different sizes of the connection tracking table, which all "
            "labs of a machine share. Cells that run at once then make each other fail (expected "
            "equal conntrack_entries and hash_size in all cells, or testbeds on different "
            "machines)."
        )


def _sizes(device: Mapping[str, Any]) -> tuple[Any, Any]:
    entries = device.get("conntrack_entries")
    return entries, device.get("hash_size", entries)


def _tracks(device: Mapping[str, Any]) -> bool:
    driver = lab_drivers().get(device.get("driver", ""))
    return device.get("kind") == "namespace" and driver is not None and driver.stateful
