"""The head of a report: what was measured, with what, when, where, and whether it conforms."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from natxy.campaign.data import INVALID, CampaignData
from natxy.campaign.machines import titled
from natxy.report.conformity import conformity
from natxy.report.numbers import seconds_left

MINUTE = "%Y-%m-%d %H:%M"


def head_of(data: CampaignData) -> dict[str, str]:
    """Returns lines by their names; an empty one is not known."""
    invalid = sum(point.verdict == INVALID for point in data.trials)
    gateways = dict.fromkeys(
        titled(gateway["dut"])
        for each in data.machines.values()
        for gateway in _gateways(each)
        if gateway.get("dut")
    )
    results = [result for cell in data.cells for result in cell.results]
    machines = dict.fromkeys(filter(None, map(_machine, data.machines.values())))
    return {
        "Gateways" if len(gateways) > 1 else "Gateway": "; ".join(gateways),
        "Tester": "; ".join(machines),
        "When": _when(data),
        "Command": data.command,
        "Conformity": conformity(results),
        "Trials": f"{len(data.trials):,}, of which {invalid:,} were invalid and do not count; "
        f"{len(data.cells)} of {len(data.plan.cells)} cells; seed {data.plan.seed}",
    }


def _gateways(machine: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Returns what a campaign's cells measured, or a measurement's own gateway."""
    own = [machine] if "dut" in machine else []
    gateways: Sequence[Mapping[str, Any]] = machine.get("gateways", own)
    return gateways


def _machine(machine: Mapping[str, Any]) -> str:
    host, tester = machine.get("host") or {}, machine.get("tester") or {}
    count = host.get("cpus")
    cpus = f"{count} CPU{'s' * (count != 1)}" if count else ""
    variant = f"engine for {tester['variant']}" if "variant" in tester else ""
    said = (host.get("name"), tester.get("cpu_model"), cpus, host.get("system"))
    return ", ".join(filter(None, (*said, tester.get("dpdk_version"), variant)))


def _when(data: CampaignData) -> str:
    if not data.started:
        return ""
    begin = datetime.fromisoformat(data.started)
    shown = f"{begin:{MINUTE}} UTC"
    if not data.ended:
        return shown
    took_s = (datetime.fromisoformat(data.ended) - begin).total_seconds()
    return f"{shown}, took {seconds_left(took_s)}"
