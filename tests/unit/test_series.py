"""Series of frame sizes and mixes, and the options that all measuring verbs share."""

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, cast

import pytest

from natxy.cli import run_command
from natxy.cli.options import foregrounds_of, networks_in, sizes_of
from natxy.cli.series_options import SeriesOptions, Work, measuring
from natxy.cli.verbs import function_of
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError
from natxy.measure.traffic_deviations import networks_deviation
from natxy.measure.traffic_settings import places
from natxy.model.frame_sizes import RFC8219_SIZES_BYTES
from natxy.model.traffic import TrafficPlan
from natxy.setting import Setting
from natxy.tester.tester import Tester
from natxy.trial.session import Session
from tests.unit.clauses import texts

NO_ENGINE = cast("Tester", None)  # a place is chosen before the engine is asked for anything


@pytest.fixture
def session(nat64: TrafficPlan) -> Session:
    return Session(engine=NO_ENGINE, traffic=nat64, dut=NoDut())


def test_lists_of_sizes_and_shares_are_read() -> None:
    assert sizes_of(None) is None
    assert sizes_of("84,1518") == (84, 1518)
    assert sizes_of("rfc8219") == RFC8219_SIZES_BYTES
    assert foregrounds_of("100,90,12.5") == (Fraction(1), Fraction(9, 10), Fraction(1, 8))


@pytest.mark.parametrize("text", ["", "84,", "84;512", "-84", "1e3", "rfc"])
def test_what_is_no_list_of_sizes_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--frame-size: .*\(expected "):
        sizes_of(text)


@pytest.mark.parametrize("text", ["", "100,", "101", "half", "-1"])
def test_what_is_no_list_of_shares_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="foreground: "):
        foregrounds_of(text)


def test_the_rfcs_sizes_end_where_the_mtu_does(session: Session) -> None:
    found = places(session, RFC8219_SIZES_BYTES, None)
    sizes = [place.testbed.traffic.frame_size_bytes for place in found]
    assert sizes == [84, 128, 256, 512, 768, 1024, 1280, 1518]


def test_on_ipv4_alone_the_wire_has_the_rfcs_sizes(session: Session) -> None:
    addresses = {"ipv4_real": "198.18.0.2", "next_hop_ipv4": "198.18.0.1"}
    section = session.testbed.tester
    left = section.left.model_copy(update=addresses)
    with_ipv4 = section.model_copy(update={"left": left})
    router = session.with_testbed(session.testbed.model_copy(update={"tester": with_ipv4}))
    router = router.with_traffic(left_ip_version=4, right_ip_version=4)
    found = places(router, RFC8219_SIZES_BYTES, None)
    on_the_wire = [64, 128, 256, 512, 768, 1024, 1280, 1518]
    assert [place.traffic.sizes.on("left") for place in found] == on_the_wire
    assert [place.traffic.sizes.on("right") for place in found] == on_the_wire


def test_the_rfcs_sizes_begin_where_extension_headers_have_room(session: Session) -> None:
    extended = session.with_traffic(extension_headers=["routing"])
    found = places(extended, RFC8219_SIZES_BYTES, None)
    assert [place.testbed.traffic.frame_size_bytes for place in found][:2] == [128, 256]
    with pytest.raises(ConfigurationError, match="84 is too small for 1 extension header "):
        places(extended, (84,), None)


def test_a_size_that_was_asked_for_and_does_not_fit_is_refused(session: Session) -> None:
    with pytest.raises(ConfigurationError, match="1522 does not fit the MTU"):
        places(session, (84, 1522), None)


def test_each_size_is_measured_with_each_mix(session: Session) -> None:
    section = session.testbed.tester
    right = section.right.model_copy(
        update={"ipv6_real": "2001:2:0:8000::2", "next_hop_ipv6": "2001:2:0:8000::1"}
    )
    both = section.model_copy(update={"right": right})
    with_ipv6 = session.with_testbed(session.testbed.model_copy(update={"tester": both}))
    found = places(with_ipv6, (84, 512), (Fraction(1), Fraction(9, 10)))
    traffic = [place.testbed.traffic for place in found]
    assert [(t.frame_size_bytes, t.n, t.m) for t in traffic] == [
        (84, 1, 1),
        (512, 1, 1),
        (84, 10, 9),
        (512, 10, 9),
    ]
    assert session.testbed.traffic.n == 1


def test_a_frame_size_out_of_range_names_the_option(session: Session) -> None:
    with pytest.raises(ConfigurationError) as refused:
        places(session, (83,), None)
    assert refused.value.in_options.startswith("--frame-size: 83 is out of range")


def test_a_measuring_verb_has_the_shared_options_and_its_own() -> None:
    @measuring("throughput", "max_rate_fps")
    def verb(work: Work, tags: Annotated[int, Setting("tags")] = 5) -> Work:
        """What it is for."""
        return work.giving(tags=tags)

    names = list(inspect.signature(verb).parameters)
    assert names == [*(field.name for field in fields(SeriesOptions)), "tags", "max_rate_fps"]
    assert verb.__doc__ == "What it is for."
    given: dict[str, Any] = {field.name: None for field in fields(SeriesOptions)}
    work = verb(**given | {"profile": "quick", "seed": 3}, tags=9, max_rate_fps=50)
    assert (work.options.profile, work.options.seed_value) == ("quick", 3)
    assert (work.name, work.given) == ("verb", {"max_rate_fps": 50, "tags": 9})


@pytest.mark.parametrize("verb", [function_of("throughput"), function_of("latency")])
def test_verbs_that_measure_take_a_series(verb: Callable[..., None]) -> None:
    assert {"frame_size", "foreground", "repetitions"} <= set(inspect.signature(verb).parameters)


def test_each_number_of_networks_is_a_place(session: Session) -> None:
    found = places(session, (84, 512), None, (1, 256))
    traffic = [place.testbed.traffic for place in found]
    assert [(t.left_networks, t.right_networks, t.frame_size_bytes) for t in traffic] == [
        (1, 1, 84),
        (1, 1, 512),
        (256, 256, 84),
        (256, 256, 512),
    ]


@pytest.mark.parametrize("text", ["", "0", "257", "1,", "many"])
def test_what_is_no_list_of_networks_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"networks: .*\(expected "):
        networks_in(text)


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        ((1,), "1 destination network, not 1 and then 256 (RFC 2544 section 12)"),
        ((256,), "256 destination networks, not 1 and then 256 (RFC 2544 section 12)"),
        ((16, 1), "1, 16 destination networks, not 1 and then 256 (RFC 2544 section 12)"),
        ((1, 16, 256), None),
    ],
)
def test_one_network_alone_departs(
    session: Session, measured: tuple[int, ...], said: str | None
) -> None:
    for place in session.with_networks(*measured):
        assert texts(networks_deviation(place)) == ([said] if said else [])


def test_networks_of_the_testbed_alone_depart_too(session: Session) -> None:
    """A program that asks for no series has such networks."""
    sixteen = session.with_traffic(left_networks=16)
    (said,) = networks_deviation(sixteen)
    assert str(said) == "16 destination networks, not 1 and then 256 (RFC 2544 section 12)"


def test_the_series_of_networks_is_in_the_table_and_does_not_depart(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--profile", "quick", "--error", "50%", "--repetitions", "1", "-v"]
    command = ["throughput", str(testbed_file), *options]
    assert run_command([*command, "--output", str(tmp_path / "1"), "--networks", "1,256"]) == 0
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines() if line.startswith("networks ")]
    assert [row[1] for row in rows] == ["1", "256"]
    assert "RFC 2544 section 12" not in shown
    first, second = json.loads((tmp_path / "1" / "results.json").read_text())
    assert (first["right_networks"], second["right_networks"]) == (1, 256)
    assert "no_pause" in [each["code"] for each in first["standing_deviations"]]
    assert run_command([*command, "--output", str(tmp_path / "2")]) == 0
    assert "1 destination network, not 1 and then 256" in capsys.readouterr().out
