"""A lab whose ports are not what was wanted first says so."""

import logging

import pytest

from natxy.dut import lab
from natxy.dut.lab import DeviceKind, usable_device_kind, warn_of_fallback
from natxy.errors import DutError
from natxy.model.measurement import Media
from natxy.report.measurement_notes import device_notes

REFUSAL = "AF_XDP is refused: bpf: Operation not permitted"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def execute(arguments: list[str]) -> str:
        raise DutError(f"`{' '.join(arguments)}` ended with status 1: {REFUSAL}")

    monkeypatch.setattr(lab, "execute", execute)


@pytest.mark.usefixtures("refused")
def test_a_fallback_is_told_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    kind = usable_device_kind("natxy-t-1", "t0", "auto")
    assert kind == DeviceKind(name="af_packet", refusal=REFUSAL)
    assert str(kind) == f"af_packet, since {REFUSAL}"
    with caplog.at_level(logging.WARNING):
        warn_of_fallback(kind)
    assert f"{REFUSAL}. The lab uses packet sockets" in caplog.text


@pytest.mark.usefixtures("refused")
def test_who_wants_af_xdp_alone_gets_an_error() -> None:
    with pytest.raises(DutError, match=r"set dut\.device = "):
        usable_device_kind("natxy-t-1", "t0", "af_xdp")


@pytest.mark.usefixtures("refused")
def test_packet_sockets_that_were_asked_for_are_no_fallback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kind = usable_device_kind("natxy-t-1", "t0", "af_packet")
    warn_of_fallback(kind)
    assert str(kind) == "af_packet"
    assert not caplog.text


def test_figures_through_packet_sockets_say_so() -> None:
    packet, xdp = (Media(driver=d, speed_mbps=None) for d in ("net_af_packet", "net_af_xdp"))
    (said,) = device_notes((packet, packet))
    assert said.startswith("The tester's ports are packet sockets (net_af_packet)")
    assert not list(device_notes((xdp, None)))
