"""The formats of frames that the engine sends, each as a trial: of UDP, and of every TCP segment.

Those of the subscribers of stateful gateways are made by the package. The package makes no TCP for
gateways without connections (MAP-E, MAP-T, lw4o6), but the engine does, without their port sets.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from natxy.model.trial_spec import Side
from tests.frames.golden import ENCAPSULATIONS, STAMP, UPPER_OCTETS, Number, octets_of_data
from tests.frames.specs import (
    COMBINATIONS,
    EXTENSIONS,
    VLANS,
    both_ways,
    in_tunnel,
    series,
    spec,
    with_format,
)
from tests.frames.subscribed import MECHANISMS, SEGMENTS, STATEFUL, plan_of, trial_of
from tests.frames.tool import sent

SIDES: tuple[Side, Side] = ("left", "right")
TUNNELS = [(name, outer) for name in ENCAPSULATIONS for outer in (4, 6)]
CONNECTIONS = 20
# Role and segment of each phase.
HANDSHAKE = [("establish", "syn"), ("respond", "syn"), ("initiate", "ack")]
BY_FIN = [*HANDSHAKE, ("initiate", "fin"), ("respond", "fin"), ("initiate", "last-ack")]
ACKS = [("initiate", "ack"), ("respond", "ack")]
# The octets of data of `ack` are odd in one of them, and none in the other.
TCP = [
    ([*BY_FIN, ("respond", "ack")], 101),
    ([HANDSHAKE[0], *ACKS, ("respond", "rst"), ("initiate", "rst")], 0),
]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One that the engine has sent."""

    format: str
    number: Number
    octets: bytes

    @property
    def name(self) -> str:
        use = self.number.traffic.get("connections") or {}
        segment = f"{use['role']} {use['segment']}" if use else self.number.kind
        return f"{self.format}: {segment} {self.number.number}"


def formats() -> Iterator[tuple[str, dict[str, Any]]]:
    for combination in COMBINATIONS:
        for vlans in VLANS if _is_alike(combination) else ("untagged",):
            for name, trial in _of_link(combination, vlans):
                yield from _with_tcp(f"{combination} {vlans} {name}", trial, "forward")
    for name, mechanism in MECHANISMS.items():
        for side in SIDES:
            outward = "forward" if side == "left" else "reverse"
            yield from _with_tcp(f"{name} on the {side}", trial_of(mechanism, side), outward)
    for name, mechanism in STATEFUL.items():
        for side in SIDES:
            for transport in ("udp", "tcp"):
                for trial in _of_package(mechanism, side, transport):
                    yield f"{name} on the {side} {transport}", trial


def _is_alike(combination: str) -> bool:
    """Tells whether a gateway keeps the IP version. Tags and tunnels do not depend on it."""
    return combination in ("44", "66")


def _of_link(combination: str, vlans: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Formats with these tags: with extension headers, and in a tunnel."""
    for extensions in EXTENSIONS if "6" in combination else EXTENSIONS[:1]:
        made = both_ways(combination, 128, fields=True)
        yield " ".join(extensions) or "plain", with_format(made, extensions, (vlans, vlans))
    for encapsulation, outer in TUNNELS if _is_alike(combination) else ():
        made = with_format(both_ways(combination, 128, (1, 1)), EXTENSIONS[1], (vlans, vlans))
        for stream in made["phases"][0]["streams"]:
            stream["background"] = None
            in_tunnel(stream["foreground"]["departure"], encapsulation, outer, fields=True)
        yield f"{encapsulation} over IPv{outer}", made


def _with_tcp(
    name: str, trial: dict[str, Any], outward: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield name, trial
    streams = {stream["direction"]: stream for stream in trial["phases"][0]["streams"]}
    inward = "reverse" if outward == "forward" else "forward"
    for segments, data in TCP:
        phases = [
            _phase(streams[inward if use[0] == "respond" else outward], streams[outward], use, data)
            for use in segments
        ]
        yield f"{name} tcp", {**trial, "phases": phases}


def _phase(
    stream: dict[str, Any], made: dict[str, Any], use: tuple[str, str], data: int
) -> dict[str, Any]:
    """A stream of UDP as a phase of TCP, in whose trial the other stream makes the connections."""
    kind = copy.deepcopy(stream["foreground"])
    responds = use[0] == "respond"
    kind |= _values(made["foreground"], swapped=responds)
    if responds:
        _answer(kind, made["foreground"])
    kind["connections"] = {"role": use[0], "order": "linear", "segment": use[1]}
    for form in (kind["departure"], kind["arrival"]):
        form["frame_size_bytes"] += STAMP - octets_of_data(form)
        form["frame_size_bytes"] += UPPER_OCTETS["tcp"] - UPPER_OCTETS["udp"]
        form["frame_size_bytes"] += data if use[1] == "ack" else 0
        form["transport"] = "tcp"
    segments = [{**stream["segments"][0], "frames": CONNECTIONS}]
    more = {"mix": {"n": 1, "m": 1}, "segments": segments, "foreground": kind, "background": None}
    return {"name": "-".join(use), "gap_ns": 0, "streams": [{**stream, **more}]}


def _answer(kind: dict[str, Any], made: dict[str, Any]) -> None:
    """Gives the frames the addresses that the connections show on either side."""
    for end, seen in (("departure", "arrival"), ("arrival", "departure")):
        kind[end]["source"] = made[seen]["destination"]
        kind[end]["destination"] = made[seen]["source"]


def _values(made: dict[str, Any], *, swapped: bool) -> dict[str, Any]:
    """What varies between connections: so few ports that the connections can be numbered."""
    values = {
        "source_port": series("increasing", 40100, 40099 + CONNECTIONS),
        "destination_port": series("fixed", 41000, 41000),
        "source_field": made["source_field"],
        "destination_field": made["destination_field"],
    }
    if swapped:
        other = {"source": "destination", "destination": "source"}
        ends = {name: name.partition("_") for name in values}
        values = {f"{other[end]}_{what}": values[name] for name, (end, _, what) in ends.items()}
    return {
        **values,
        "selection": "enumerate-pseudorandom",
        "source_port_set": None,
        "destination_port_set": None,
    }


def _of_package(mechanism: dict[str, Any], side: Side, transport: str) -> Iterator[dict[str, Any]]:
    ports = {
        "source_port": {"mode": "pseudorandom", "min": 40100, "max": 40999},
        "destination_port": {"mode": "fixed", "min": 41000, "max": 41000},
    }
    connections = {"count": CONNECTIONS, "initiator": side, "transport": transport}
    outward = "forward" if side == "left" else "reverse"
    plan = plan_of(mechanism, side, connections=connections, **{outward: ports})
    made, answered = plan.establish(SEGMENTS), plan.validate(SEGMENTS)
    both = [plan.initiate(SEGMENTS, "linear"), plan.respond(SEGMENTS, "linear")]
    if transport == "udp":
        yield _numbered([made, *both])
        return
    handshake = [made, answered, plan.acknowledge(SEGMENTS)]
    fin = [plan.close(SEGMENTS, role, "fin") for role in ("initiate", "respond")]
    rst = [plan.close(SEGMENTS, role, "rst") for role in ("initiate", "respond")]
    yield _numbered([*handshake, *both, *fin, plan.close(SEGMENTS, "initiate", "last-ack")])
    yield _numbered([*handshake, *rst])


def _numbered(streams: list[Any]) -> dict[str, Any]:
    phases = [
        {"name": f"{i}", "gap_ns": 0, "streams": [stream.model_dump(mode="json")]}
        for i, stream in enumerate(streams)
    ]
    return spec(phases=phases)


def frames_of(name: str, trial: dict[str, Any]) -> Iterator[Frame]:
    """The first frames of each stream: one of a segment, some of the kinds of a mix."""
    streams = {
        (phase["name"], stream["direction"]): (index, stream)
        for index, phase in enumerate(trial["phases"])
        for stream in phase["streams"]
    }
    count = 1 if len(trial["phases"]) > 1 else 3
    for each in sent(trial, count):
        index, stream = streams[each.phase, each.direction]
        number = Number(spec=trial, phase=index, stream=stream, number=each.number)
        yield Frame(format=name, number=number, octets=each.frame)
