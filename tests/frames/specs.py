"""Specs of every IP version combination, as docs/reference/engine-protocol.md has them."""

from typing import Any

from tests.frames.golden import tunnel_octets

COMBINATIONS = ["44", "46", "64", "66"]
SIZES = [84, 128, 256, 512, 1024, 1280, 1518]
MODES = ["fixed", "increasing", "decreasing", "pseudorandom"]

HOSTS = {4: ("198.18.0.2", "198.19.0.2"), 6: ("2001:2::2", "2001:2:0:1000::2")}
NETWORK_BYTE = {4: 2, 6: 7}
SMALLEST = {4: 64, 6: 84}
# (of the source, of the destination): one at an odd offset in each family.
FIELD_BYTES = {4: (2, 0), 6: (13, 10)}
# The ends of a tunnel, and the octets of their fields, by the IP version of the outer header.
TUNNEL_ENDS = {4: ("192.0.2.7", "203.0.113.8"), 6: ("2001:2::7", "2001:2:0:8000::8")}
TUNNEL_FIELD_BYTES = {4: (2, 1), 6: (14, 9)}
VLANS: dict[str, list[dict[str, Any]]] = {
    "untagged": [],
    "one": [{"tpid": "802.1Q", "id": 4094, "priority": 7}],
    "two": [{"tpid": "802.1ad", "id": 1}, {"tpid": "802.1Q", "id": 100, "priority": 1}],
}
EXTENSIONS: list[list[str]] = [
    [],
    ["hop-by-hop"],
    ["destination-options", "routing"],
    # As many as a frame may have, in RFC 8200's order; more than the 32 octets of RFC 5180 5.3.
    ["hop-by-hop", "destination-options", *["routing"] * 5, "destination-options"],
]
MACS_GIVEN = {"next_hop": {"ipv4": None, "ipv6": None, "mac": "02:00:00:00:00:0a"}}


def field_at(octet: int | None) -> list[dict[str, int]]:
    """A field of 16 bits that begins with this octet; None: no field."""
    return [] if octet is None else [{"value_bit": 0, "bits": 16, "address_bit": 8 * octet}]


def pair(version: int, *, reverse: bool, networks: int, fields: bool) -> dict[str, Any]:
    source, destination = HOSTS[version][::-1] if reverse else HOSTS[version]
    source_byte, destination_byte = FIELD_BYTES[version] if fields else (None, None)
    network_byte = NETWORK_BYTE[version] if networks > 1 else None
    return {
        "ip_version": version,
        "frame_size_bytes": SMALLEST[version],
        "source": {"address": source, "network_byte": None, "field": field_at(source_byte)},
        "destination": {
            "address": destination,
            "network_byte": network_byte,
            "field": field_at(destination_byte),
        },
    }


def in_tunnel(
    form: dict[str, Any], encapsulation: str, version: int, *, fields: bool = False
) -> None:
    """Puts the packets of a format into a tunnel, with an outer header of this IP version."""
    source, destination = TUNNEL_ENDS[version]
    source_byte, destination_byte = TUNNEL_FIELD_BYTES[version] if fields else (None, None)
    form["tunnel"] = {
        "encapsulation": encapsulation,
        "ip_version": version,
        "source": {"address": source, "field": field_at(source_byte)},
        "destination": {"address": destination, "field": field_at(destination_byte)},
        "hop_limit": 255,
    }
    form["frame_size_bytes"] += tunnel_octets(form["tunnel"])


def series(mode: str, low: int, high: int) -> dict[str, Any]:
    return {"mode": mode, "min": low, "max": high}


def traffic(
    combination: str,
    *,
    reverse: bool = False,
    networks: int = 1,
    fields: bool = False,
    mode: str = "pseudorandom",
    selection: str = "independent",
    **header: Any,
) -> dict[str, Any]:
    """Left and right IP version; in the reverse direction frames leave on the right."""
    left, right = (int(version) for version in combination)
    leaving, coming = (right, left) if reverse else (left, right)
    return {
        "departure": pair(leaving, reverse=reverse, networks=networks, fields=fields),
        "arrival": pair(coming, reverse=reverse, networks=networks, fields=fields),
        "selection": selection,
        "source_port": series(mode, 1024, 65535),
        "destination_port": series(mode, 1, 49151),
        "source_field": series(mode if fields else "fixed", 0, 65535 if fields else 0),
        "destination_field": series(mode if fields else "fixed", 100, 1099 if fields else 100),
        "networks": networks,
        "hop_limit_drop": 1,
        **header,
    }


def sized(traffic: dict[str, Any] | None, size: int) -> dict[str, Any] | None:
    """The traffic with frames of this size as IPv6; an IPv4 frame is 20 octets smaller."""
    if traffic is None:
        return None
    grown = {
        end: {**traffic[end], "frame_size_bytes": traffic[end]["frame_size_bytes"] + size - 84}
        for end in ("departure", "arrival")
    }
    return {**traffic, **grown}


def stream(
    direction: str,
    foreground: dict[str, Any] | None,
    background: dict[str, Any] | None,
    *,
    size: int = 84,
    mix: tuple[int, int] = (1, 1),
) -> dict[str, Any]:
    return {
        "direction": direction,
        "mix": {"n": mix[0], "m": mix[1]},
        # So fast that several frames are due at a time: the loops take them in bursts.
        "segments": [{"frames": 2**39, "rate_fps": 2**33, "pause_ns": 0}],
        "foreground": sized(foreground, size),
        "background": sized(background, size),
    }


def spec(*streams: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {
        "version": 3,
        "seed": 0x0123456789ABCDEF,
        "nonce": 0xC0FFEE01,
        "drain_ns": 50_000_000,
        "frame_timeout_ns": 0,
        "lateness_tolerance_ns": 1_000_000,
        "realtime": False,
        "warm_up": {"mode": "neighbours", "timeout_ns": 1_000_000_000},
        "sides": {
            "left": {**MACS_GIVEN, "own_addresses": []},
            "right": {**MACS_GIVEN, "own_addresses": []},
        },
        "phases": [{"name": "test", "gap_ns": 0, "streams": list(streams)}],
        **other,
    }


def both_ways(
    combination: str, size: int, mix: tuple[int, int] = (3, 2), **kind: Any
) -> dict[str, Any]:
    """The background is of the combination beside the foreground's."""
    other = COMBINATIONS[COMBINATIONS.index(combination) - 1]
    streams = [
        stream(
            direction,
            traffic(combination, reverse=direction == "reverse", **kind),
            traffic(other, reverse=direction == "reverse", **kind),
            size=size,
            mix=mix,
        )
        for direction in ("forward", "reverse")
    ]
    return spec(*streams)


def with_format(
    trial: dict[str, Any], extensions: list[str], vlans: tuple[str, str]
) -> dict[str, Any]:
    """The trial with VLAN tags, a traffic class, and what only IPv6 has where frames leave as IPv6.

    A translator removes it.
    """
    for side, name in zip(("left", "right"), vlans, strict=True):
        trial["sides"][side] = {**trial["sides"][side], "vlans": VLANS[name]}
    for its_stream in trial["phases"][0]["streams"]:
        for kind in filter(None, (its_stream["foreground"], its_stream["background"])):
            for end in (kind["departure"], kind["arrival"]):
                end["traffic_class"] = 0xB9
                if kind["departure"]["ip_version"] == end["ip_version"] == 6:
                    end["flow_label"] = 0x12345
                    end["extension_headers"] = extensions
                    end["frame_size_bytes"] += 8 * len(extensions)
            kind["dscp_kept"] = True
        its_stream["segments"][0]["frames"] = 1000
    return trial
