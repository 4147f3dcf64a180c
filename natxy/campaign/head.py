"""The head of a report: what was measured, with what, when, where, and whether it conforms."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from natxy.campaign.data import INVALID, CampaignData
from natxy.campaign.machines import titled
from natxy.model.measurement import Conditions, Measurement
from natxy.report.conformity import conformity
from natxy.report.numbers import seconds_left

MINUTE = "%Y-%m-%d %H:%M"
BOTH = "both directions at once"


def head_of(data: CampaignData) -> dict[str, str]:
    """Returns lines by their names; an empty one is not known."""
    invalid = sum(point.verdict == INVALID for point in data.trials)
    gateways = _gateways(data)
    results = [result for cell in data.cells for result in cell.results]
    machines = dict.fromkeys(filter(None, map(_machine, data.machines.values())))
    planned = len(data.plan.cells)
    cells = f"{len(data.cells)} of {planned} cells; " if planned > 1 else ""
    return {
        "Gateways" if len(gateways) > 1 else "Gateway": "\n".join(gateways),
        "Tester": "; ".join(machines),
        "Traffic": _traffic([result.conditions for result in results]),
        "When": _when(data),
        "Command": data.command,
        "Conformity": _conformity(data, results),
        "Trials": f"{len(data.trials):,}, of which {invalid:,} were invalid and do not count; "
        f"{cells}seed {data.plan.seed}",
    }


def _gateways(data: CampaignData) -> list[str]:
    """Returns what was measured, with the columns if there are several gateways."""
    columns: dict[str, list[str]] = {}  # by the words of the gateway
    for machine in data.machines.values():
        own = [machine] if "dut" in machine else []
        for gateway in machine.get("gateways", own):
            if gateway.get("dut"):
                known = columns.setdefault(_gateway(gateway["dut"]), [])
                known += _columns_of(gateway.get("cells", ()), data)
    if len(columns) < 2:
        return list(columns)
    return [
        f"{'; '.join(dict.fromkeys(labels))}: {words}" if any(labels) else words
        for words, labels in columns.items()
    ]


def _columns_of(titles: Sequence[str], data: CampaignData) -> list[str]:
    """Returns the columns of cells; each has its measurement and its column as a title."""
    labels = {
        ", ".join(filter(None, (cell.measure, cell.column))): cell.column for cell in data.cells
    }
    return [labels[title] for title in titles if title in labels]


def _gateway(described: Mapping[str, Any]) -> str:
    kernel = described.get("kernel")
    software = "; ".join(filter(None, (described.get("software"), kernel)))
    return titled({**described, "software": software})


def _traffic(measured: Sequence[Conditions]) -> str:
    """Says what was sent: the same of all results, or each one that there is."""
    versions = [f"IPv{each.left_ip_version} to IPv{each.right_ip_version}" for each in measured]
    ways = [BOTH if each.direction == "both" else f"{each.direction} only" for each in measured]
    sizes = [f"{each.frame_size_bytes:,}" for each in measured]
    shares = [f"{each.foreground_percent:g}" for each in measured]
    all_of = [_or(list(dict.fromkeys(each))) for each in (versions, ways, sizes, shares)]
    return "{}, {}, {} B (as IPv6), {} % foreground".format(*all_of) if measured else ""


def _or(words: Sequence[str]) -> str:
    """Returns "84, 512 or 1,518"."""
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


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
        last_s = max((point.at_s for point in data.trials), default=0.0)
        return (
            f"{shown}, the last trial {seconds_left(last_s)} after the first" if last_s else shown
        )
    took_s = (datetime.fromisoformat(data.ended) - begin).total_seconds()
    return f"{shown}, took {seconds_left(took_s)}"


def _conformity(data: CampaignData, results: Sequence[Measurement]) -> str:
    """Says whether all was measured, whether it conforms to its RFCs, and what differs most."""
    failed = sum(bool(cell.error) for cell in data.cells)
    without = f"{failed} of {len(data.plan.cells)} cells failed" if failed else ""
    differs = conformity(results)
    if not (failed and differs):
        return without or differs
    return f"{without}; {differs[:1].lower()}{differs[1:]}"
