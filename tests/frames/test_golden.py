"""Compares sent frames octet for octet with scapy's and the functions of ADR 0008."""

import itertools
from collections.abc import Iterable
from typing import TypeVar

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6

from tests.frames.golden import ENCAPSULATIONS, Number, arrival, arrival_side
from tests.frames.golden_shared import FRAMES, SPOILT, expect_golden
from tests.frames.specs import (
    COMBINATIONS,
    EXTENSIONS,
    MODES,
    SIZES,
    VLANS,
    both_ways,
    in_tunnel,
    spec,
    stream,
    traffic,
    with_format,
)
from tests.frames.tool import judged, sent

Case = TypeVar("Case")


def some_of(cases: Iterable[Case], combination: str, size: int) -> list[Case]:
    """Deals the cases out to the sizes, for each combination another way: a combination has every
    size and every case, but not every case at every size. Each size has one case at least."""
    dealt = list(cases)
    place = (SIZES.index(size) + COMBINATIONS.index(combination)) % len(SIZES)
    return dealt[place :: len(SIZES)] or [dealt[place % len(dealt)]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_departures(combination: str, size: int) -> None:
    cases = itertools.product((1, 256), (False, True), MODES)
    for networks, fields, mode in some_of(cases, combination, size):
        expect_golden(both_ways(combination, size, networks=networks, fields=fields, mode=mode))


@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize(
    "selection", ["enumerate-increasing", "enumerate-decreasing", "enumerate-pseudorandom"]
)
def test_enumerations(selection: str, fields: bool) -> None:
    trial = both_ways("64", 84, selection=selection, fields=fields)
    for its_stream in trial["phases"][0]["streams"]:
        its_stream["segments"][0]["frames"] = 2**31  # of 2^31.56 port pairs
    for first in (0, 64511, 2**31 - FRAMES):
        expect_golden(trial, first=first)


@pytest.mark.parametrize(("sources", "destinations"), [(1, 1), (2, 1), (17, 1), (13, 5), (1, 65)])
def test_enumerations_of_few_combinations(sources: int, destinations: int) -> None:
    """All of them, so also those whose rank walks: just above a power of 4 most cells do."""
    trial = both_ways("64", 84, (1, 1), selection="enumerate-pseudorandom")
    frames = sources * destinations
    for its_stream in trial["phases"][0]["streams"]:
        its_stream["background"] = None
        its_stream["segments"][0]["frames"] = frames
        its_stream["foreground"]["source_port"]["max"] = 1024 + sources - 1
        its_stream["foreground"]["destination_port"]["max"] = destinations
    expect_golden(trial, frames)


def test_large_numbers() -> None:
    for mode in MODES:
        expect_golden(both_ways("66", 84, networks=256, fields=True, mode=mode), first=2**32 - 5)


@pytest.mark.parametrize("size", [84, 1518])
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_headers_as_siitperf_has_them(combination: str, size: int) -> None:
    trial = both_ways(combination, size, fields=True, hop_limit=10, dont_fragment=False)
    expect_golden(trial)
    for its_stream in trial["phases"][0]["streams"]:
        its_stream["segments"][0]["frames"] = 1000
        number = Number(spec=trial, phase=0, stream=its_stream, number=0)
        assert judged(trial, [(arrival_side(number), bytes(arrival(number)))]) == ["received"]


@pytest.mark.parametrize("outer", [4, 6])
@pytest.mark.parametrize("combination", ["44", "66"])
def test_each_header_without_df_has_an_identification(combination: str, outer: int) -> None:
    trial = both_ways(combination, 128, fields=True, dont_fragment=False)
    for its_stream in trial["phases"][0]["streams"]:
        in_tunnel(its_stream["foreground"]["departure"], "gre", outer, fields=True)
    expect_golden(trial)


@pytest.mark.parametrize("vlans", list(itertools.product(VLANS, VLANS)), ids="-".join)
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_formats(combination: str, vlans: tuple[str, str]) -> None:
    for extensions in EXTENSIONS:
        trial = with_format(both_ways(combination, 128, fields=True), extensions, vlans)
        expect_golden(trial)
        for its_stream in trial["phases"][0]["streams"]:
            number = Number(spec=trial, phase=0, stream=its_stream, number=0)
            assert judged(trial, [(arrival_side(number), bytes(arrival(number)))]) == ["received"]


@pytest.mark.parametrize("vlans", VLANS)
@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("ends", [("departure",), ("arrival",), ("departure", "arrival")])
@pytest.mark.parametrize(("outer", "combination"), list(itertools.product((4, 6), ("44", "66"))))
@pytest.mark.parametrize("encapsulation", ENCAPSULATIONS)
def test_tunnels(
    encapsulation: str,
    outer: int,
    combination: str,
    ends: tuple[str, ...],
    fields: bool,
    vlans: str,
) -> None:
    """Tunnels are at one end, as at a B4 or an AFTR, or at both."""
    plain = both_ways(combination, 128, (1, 1), fields=fields)
    trial = with_format(plain, EXTENSIONS[2], (vlans, "untagged"))
    for its_stream in trial["phases"][0]["streams"]:
        its_stream["background"] = None
        for end in ends:
            in_tunnel(its_stream["foreground"][end], encapsulation, outer, fields=fields)
    expect_golden(trial)
    for its_stream in trial["phases"][0]["streams"]:
        number = Number(spec=trial, phase=0, stream=its_stream, number=0)
        side, packet = arrival_side(number), arrival(number)
        assert judged(trial, [(side, bytes(packet))]) == ["received"]
        if "arrival" in ends:
            packet[IP if outer == 4 else IPv6].src = SPOILT[outer]
            assert judged(trial, [(side, bytes(packet))]) == ["tunnel"]


@pytest.mark.parametrize("mix", [(1, 1), (2, 1), (10, 9), (7, 3), (65536, 1)])
def test_mixes(mix: tuple[int, int]) -> None:
    trial = both_ways("46", 128, mix=mix)
    for its_stream in trial["phases"][0]["streams"]:
        if mix == (1, 1):
            its_stream["background"] = None
    expect_golden(trial, frames=40)


def test_background_alone() -> None:
    kinds = stream("forward", None, traffic("64", networks=256), mix=(5, 0))
    expect_golden(spec(kinds))


def test_phases_differ_in_the_stamp_alone() -> None:
    phase = both_ways("64", 84)["phases"][0]
    phases = [{**phase, "name": name} for name in ("one", "two", "three", "four")]
    trial = spec(phases=phases)
    expect_golden(trial)
    one, two = (
        [frame.frame for frame in sent(trial, FRAMES) if frame.phase == name]
        for name in ("one", "two")
    )
    assert [frame[:14] for frame in one] == [frame[:14] for frame in two]
    assert one != two


def test_seeds_and_nonces() -> None:
    trial = both_ways("64", 84)
    for seed, nonce in ((0, 0), (1, 1), (2**64 - 1, 2**32 - 1)):
        expect_golden({**trial, "seed": seed, "nonce": nonce})


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_arrivals_that_are_right(combination: str, size: int) -> None:
    """What scapy says the gateway must make of a frame is what the engine waits for."""
    cases = itertools.product((1, 256), (False, True))
    for networks, fields in some_of(cases, combination, size):
        trial = both_ways(combination, size, networks=networks, fields=fields)
        for its_stream in trial["phases"][0]["streams"]:
            its_stream["segments"][0]["frames"] = 1000
        numbers = [
            Number(spec=trial, phase=0, stream=its_stream, number=number)
            for number in range(FRAMES)
            for its_stream in trial["phases"][0]["streams"]
        ]
        frames = [(arrival_side(number), bytes(arrival(number))) for number in numbers]
        assert judged(trial, frames) == ["received"] * len(frames)
        assert set(judged(trial, frames * 2)[len(frames) :]) == {"duplicated"}
