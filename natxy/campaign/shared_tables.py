"""Sizes of the kernel's connection tracking table, which all labs of a machine share."""

from collections.abc import Iterator, Mapping
from typing import Any

from natxy.campaign.plan import CampaignPlan
from natxy.dut.lab_drivers import lab_drivers

SIZES = ("conntrack_entries", "hash_size")


def shared_tables(plans: Mapping[int, CampaignPlan]) -> Iterator[str]:
    """Yields a sentence if cells that may run at once need other sizes; `plans` are those of the
    testbeds on this machine, by number."""
    devices = [cell.testbed.get("dut", {}) for plan in plans.values() for cell in plan.cells]
    sizes = {tuple(map(device.get, SIZES)) for device in devices if _tracks(device)}
    if len(plans) > 1 and len(sizes) > 1:
        yield (
            f"Cells set {len(sizes)} different sizes of the connection tracking table, which all "
            "labs of a machine share: those that run at once make each other fail (expected equal "
            f"{' and '.join(SIZES)} in all cells, or testbeds on different machines)."
        )


def _tracks(device: Mapping[str, Any]) -> bool:
    driver = lab_drivers().get(device.get("driver", ""))
    return device.get("kind") == "namespace" and driver is not None and driver.stateful
