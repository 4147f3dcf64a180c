"""The head of a report: what was measured, with what, when, where, and whether it conforms.

It counts why trials were invalid, in a few words for each code.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from natxy.campaign.data import CampaignData
from natxy.campaign.machines import titled
from natxy.campaign.trial_points import INVALID
from natxy.model.measurement import Conditions, Measurement
from natxy.model.reason import Code
from natxy.report.brief_notes import conformity
from natxy.report.cell_figures import IPV6_OCTETS
from natxy.report.numbers import seconds_left

SHOWN = 4
PORT_CLOCK, MISSED = "the port's clock was wrong", "the tester's port missed frames"
LINK, LATE, PAUSED = "a link failed", "a frame left late", "the sender paused too long"
TESTER = "the tester's core was away"
SHORT: Mapping[Code, str] = {
    Code.LINK_DOWN: LINK,
    Code.LINK_FELL: LINK,
    Code.RX_ERRORS: "frames arrived with errors",
    Code.CLOCK_ERROR: PORT_CLOCK,
    Code.UNSTAMPED: PORT_CLOCK,
    Code.IMPLAUSIBLE_STAMPS: PORT_CLOCK,
    Code.PORT_REFUSED: "the tester's port took too few frames",
    Code.RX_MISSED: MISSED,
    Code.RX_NO_BUFFER: MISSED,
    Code.KERNEL_RX_DROPPED: MISSED,
    Code.TX_ERRORS: "the tester's port failed to send",
    Code.RECORDS_LOST: "records had no room",
    Code.LEFT_LATE: LATE,
    Code.GAVE_UP_LATE: LATE,
    Code.GAVE_UP_PAUSED: PAUSED,
    Code.PAUSED: PAUSED,
    Code.RING_FULL: "the tester's ring was full",
    Code.TWO_QUEUES: "frames arrived on two queues",
    Code.TOO_MANY_ADDRESSES: "too many external addresses",
    Code.GATEWAY_AWAY: "the gateway's core was away",
    Code.TESTER_AWAY: TESTER,
    Code.DELAY_IN_DOUBT: TESTER,
    Code.SILENCE_IN_DOUBT: TESTER,
    Code.CORES_APART: "the host moved the cores apart",
    Code.CORE_SHARED: "the host shared a core",
    Code.SLOWED: "pauses lowered the rate",
    Code.FEW_CLEAN_TAGS: "too few tagged frames without noise",
    Code.END_IN_DOUBT: "a loss at the end in noise",
    Code.BURST_SLOW: "a burst took too long",
    Code.SENT_SLOWLY: "sending took too long",
    Code.GATEWAY_POLLED_LATE: "the calibration gateway polled late",
    Code.TABLE_RESIZED: "another program resized the table",
    Code.LOG_ENDED: "the log of connections ended",
    Code.UNKNOWN: "the engine gave no reason",
}
MINUTE = "%Y-%m-%d %H:%M"
BOTH = "both directions at once"
MOST_LINES = 4  # about the traffic


def head_of(data: CampaignData) -> dict[str, str]:
    """Returns lines by their names; an empty one is not known."""
    gateways = _gateways(data)
    results = [result for cell in data.cells for result in cell.results]
    machines = dict.fromkeys(filter(None, map(_machine, data.machines.values())))
    planned = len(data.plan.cells)
    cells = f"{len(data.cells)} of {planned} cells; " if planned > 1 else ""
    return {
        "Gateways" if len(gateways) > 1 else "Gateway": "\n".join(gateways),
        "Tester": "; ".join(machines),
        "Test": _tests(results),
        "Traffic": _traffic_of(data),
        "When": _when(data),
        "Command": data.command,
        "Conformity": _conformity(data, results),
        "Trials": f"{_trials(data)}; {cells}seed {data.plan.seed}",
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
    cpu = described.get("gateway_cpu")  # of a gateway that the tester's machine runs
    where = f"CPU {cpu} of the tester's machine" if cpu else ""
    known = (described.get("software"), described.get("kernel"), where)
    return titled({**described, "software": "; ".join(filter(None, known))})


def _tests(results: Sequence[Measurement]) -> str:
    """Returns what was measured, each with the clause that defines it."""
    clauses = dict.fromkeys((result.title, result.reference) for result in results)
    return "; ".join(f"{title} ({clause})" if clause else title for title, clause in clauses)


def _trials(data: CampaignData) -> str:
    """Says how many trials there were, and why some do not count."""
    invalid = [point for point in data.trials if point.verdict == INVALID]
    if not invalid:
        return f"{len(data.trials):,}, all valid"
    why = counted_reasons(point.code for point in invalid)
    return f"{len(data.trials):,}, of which {len(invalid):,} are invalid and do not count ({why})"


def _traffic_of(data: CampaignData) -> str:
    """Says what was sent; of a few columns whose IP versions differ, a line for each."""
    columns: dict[str, list[Conditions]] = {}
    for cell in data.cells:
        columns.setdefault(cell.column, []).extend(each.conditions for each in cell.results)
    labels: dict[str, list[str]] = {}  # by what was sent
    for label, measured in columns.items():
        if measured:
            labels.setdefault(_traffic(measured), []).append(label)
    all_of = [each for measured in columns.values() for each in measured]
    versions = {(each.left_ip_version, each.right_ip_version) for each in all_of}
    if len(versions) == 1 or not 1 < len(labels) <= MOST_LINES:
        return _traffic(all_of)
    return "\n".join(f"{'; '.join(of)}: {words}" for words, of in labels.items())


def _traffic(measured: Sequence[Conditions]) -> str:
    """Says what was sent: the same of all results, or each one that there is."""
    versions = [f"IPv{each.left_ip_version} to IPv{each.right_ip_version}" for each in measured]
    ways = [BOTH if each.direction == "both" else f"{each.direction} only" for each in measured]
    shares = [f"{each.foreground_percent:g}" for each in measured]
    all_of = [_or(versions), _or(ways), _sizes(measured)]
    if set(shares) - {"100"}:
        all_of.append(f"{_or(shares)} % foreground")
    return ", ".join(filter(None, all_of))


def _sizes(measured: Sequence[Conditions]) -> str:
    """Returns the sizes of the frames that are sent, and those of IPv6, in which Natxy counts."""
    if not measured:
        return ""
    as_ipv6 = _or([f"{each.frame_size_bytes:,}" for each in measured])
    if not all(_sends_ipv4(each) for each in measured):
        return f"{as_ipv6} B (as IPv6)"
    as_ipv4 = _or([f"{each.frame_size_bytes - IPV6_OCTETS:,}" for each in measured])
    return f"{as_ipv4} B ({as_ipv6} B as IPv6)"


def _sends_ipv4(of: Conditions) -> bool:
    """Tells whether all frames are IPv4; those of the background are IPv6."""
    return 6 not in (of.left_ip_version, of.right_ip_version) and of.foreground_percent == 100


def _or(words: Sequence[str]) -> str:
    """Returns "84, 512 or 1,518": each word once."""
    words = list(dict.fromkeys(words))
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
        return shown
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


def counted_reasons(codes: Iterable[str]) -> str:
    """Returns how often each reason made a trial invalid, by its code, the most frequent first:
    "6 x a frame left late, 3 x the host shared a core"."""
    counted = Counter(SHORT[Code[code.upper()]] for code in codes).most_common()
    others = sum(count for _, count in counted[SHOWN:])
    words = [f"{count:,} x {reason}" for reason, count in counted[:SHOWN]]
    return ", ".join([*words, f"{others:,} x others"] if others else words)
