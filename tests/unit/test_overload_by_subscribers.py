"""Overload by subscribers: what their number costs against one (RFC 8219 section 10)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from natxy.errors import ConfigurationError, DutError
from natxy.measure.flows import with_subscribers
from natxy.model.measurement import Measurement
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream
from natxy.procedure.overload import overload
from tests.remarks import about
from tests.unit.cli import Captured, complaint
from tests.unit.fake_engine import FakeEngine, beyond
from tests.unit.overload import LOST, THROUGHPUT, plan
from tests.unit.subscribers import CLAT, DS_LITE, LW4O6, MAP_E
from tests.unit.subscribers import plan as traffic_of


def subscribers_of(stream: Stream) -> int:
    traffic = stream.foreground
    assert traffic is not None
    return max(traffic.source_field.values, traffic.destination_field.values)


def slower_with(cost_fps: dict[int, int]) -> FakeEngine:
    """A capacity for each number of subscribers."""
    return FakeEngine(lose=lambda stream: beyond(cost_fps[subscribers_of(stream)], stream))


def checked(subscribers: dict[str, Any], **others: Any) -> TrafficPlan:
    made = traffic_of(subscribers, **others)
    made.check()
    return made


@pytest.mark.parametrize("mechanism", [MAP_E, LW4O6], ids=["map-e", "lw4o6"])
def test_degradation_is_against_one_subscriber(mechanism: dict[str, Any]) -> None:
    engine = slower_with({1: 10_000, 100: 9_000, 65_536: 2_500})
    asked = plan((), subscribers=(100, 65_536))
    result = overload(asked, engine.session(checked(mechanism)))
    found = {figure.at: figure.values for figure in result.figures if figure.name == THROUGHPUT}
    assert found == {
        "1 subscriber": (10_000,),
        "100 subscribers": (9_000,),
        "65,536 subscribers": (2_500,),
    }
    lost = {figure.at: figure.values for figure in result.figures if figure.name == LOST}
    assert lost == {"100 subscribers": (10.0,), "65,536 subscribers": (75.0,)}
    assert about(Topic.DEGRADATION, result.remarks).facts["unit"] == "subscriber"
    few = about(Topic.FEW_IN_TRIAL, result.remarks).facts
    assert (few["number"], few["units"]) == (65_536, "subscribers")
    assert not any("flow" in str(each) for each in result.remarks)
    assert any("The tester is up to 65,536 " in each for each in result.conditions.formats)
    assert [(each.at_value, each.at_unit) for each in result.figures][-1] == (65_536, "subscribers")
    assert Measurement.model_validate_json(result.model_dump_json()) == result


def test_their_ports_stay_those_of_the_testbed() -> None:
    engine = FakeEngine()
    fixed = {"mode": "fixed", "min": 53, "max": 53}
    traffic = checked(MAP_E, forward={"destination_port": fixed})
    overload(plan((), subscribers=(10,)), engine.session(traffic))
    forward = engine.specs[-1].phases[0].streams[0].foreground
    assert forward is not None
    assert forward.destination_port.min == 53
    assert forward.source_port_set is not None
    assert forward.source_field.max == 9


def test_more_subscribers_than_fit_are_refused_before_anything_is_measured() -> None:
    engine = FakeEngine()
    refused = r"^subscribers: subscribers\.count: 65537 subscribers do not fit"
    with pytest.raises(ConfigurationError, match=refused):
        overload(plan((), subscribers=(10, 65_537)), engine.session(checked(MAP_E)))
    assert not engine.specs


def test_more_combinations_than_connections_may_have_are_refused() -> None:
    narrow = {"source_port": {"mode": "pseudorandom", "min": 1024, "max": 2047}}
    few = {**CLAT, "count": 2}
    connections = {"count": 100, "rate_fps": 1000, "sample": 0}
    session = FakeEngine().session(checked(few, connections=connections, forward=narrow))
    asked = plan((), subscribers=(1000,))
    with pytest.raises(ConfigurationError, match=r"subscribers\.count: 1000 subscribers make"):
        overload(asked, session)


def test_an_aftr_in_a_guest_has_no_more_softwires_than_the_testbed() -> None:
    connections = {"count": 100, "rate_fps": 1000, "sample": 0}
    one = {"mode": "fixed", "min": 1024, "max": 1024}
    ports = {"source_port": one, "destination_port": one}
    made = checked(DS_LITE, connections=connections, forward=ports)
    lab = {"kind": "guest", "driver": "aftr"}
    testbed = made.testbed.model_copy(update={"dut": lab})
    session = FakeEngine().session(replace(made, testbed=testbed))
    assert with_subscribers(session, 1000).testbed.subscribers == testbed.subscribers
    refused = r"^subscribers: 1001 is more than subscribers\.count, .* \(expected at most 1000\)$"
    with pytest.raises(ConfigurationError, match=refused):
        with_subscribers(session, 1001)


def test_a_testbed_without_subscribers_is_refused(nat64: TrafficPlan) -> None:
    session = FakeEngine().session(nat64)
    with pytest.raises(ConfigurationError, match="subscribers: is missing: subscribers needs it"):
        overload(plan((), subscribers=(10,)), session)


def test_a_device_that_passes_not_even_one_subscriber_has_no_degradation() -> None:
    session = FakeEngine(lose=lambda _: [0]).session(checked(MAP_E))
    with pytest.raises(DutError, match="loses frames of a single subscriber"):
        overload(plan((), subscribers=(10,)), session)


@pytest.mark.parametrize(
    ("flows", "changes", "option"),
    [((10,), {}, "flows"), ((), {"incremental": True}, "incremental")],
)
def test_subscribers_take_the_place_of_flows(
    flows: tuple[int, ...], changes: dict[str, Any], option: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"{option}: is not possible with subscribers"):
        plan(flows, subscribers=(10,), **changes)


def test_the_command_names_the_option_that_is_wrong(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "testbed.toml"
    file.write_text("[tester]\n")
    for options, sentence in [
        (("--subscribers", "10;20"), '--subscribers: "10;20" is not a list of numbers'),
        (("--flows", "ten"), '--flows: "ten" is not a list of numbers'),
        (("--subscribers", "10", "--flows", "10"), "--flows: is not possible with --subscribers"),
    ]:
        assert sentence in complaint(capsys, "overload", file, *options)
