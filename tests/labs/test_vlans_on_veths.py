"""VLAN tags on a veth: the kernel tags the frames, and the tester sees the tags, or does not.

A frame's tag is not in the frame but beside it while the kernel expects the interface to insert it
(VLAN offload). A veth hands it over like this, and AF_XDP shows the frame only.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.execution import execute, in_namespace
from natxy.dut.namespace import NamespaceDut
from natxy.errors import MeasurementError
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from tests.guest.guests import RATE_FPS, TESTER, trial_without_dut
from tests.labs.conftest import StartLab
from tests.programs import ROOT

Tags = tuple[tuple[str, int], ...]  # TPID and number of the VLAN, outer tag first
ONE: Tags = (("802.1Q", 100),)
TWO: Tags = (("802.1ad", 200), ("802.1Q", 7))
DURATION_S = Fraction(1, 5)
FRAMES = int(RATE_FPS * DURATION_S)  # in each direction
OFFLOADS = ("txvlan", "tx-vlan-stag-hw-insert")


@contextmanager
def tagged(lab: NamespaceDut, tags: Tags) -> Iterator[None]:
    """Has the gateway's end of the right link tagged."""
    words = [f"{tpid}:{number}" for tpid, number in tags]
    program = [sys.executable, "-m", "tests.labs.vlan_link", right_end(lab), *words]
    with subprocess.Popen(
        in_namespace(str(lab.gateway_namespace), program),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if not process.stdout.readline():
            why = process.stderr.read().strip()
            assert why.startswith("the kernel refuses"), why
            pytest.skip(why)
        yield


def right_end(lab: NamespaceDut) -> str:
    return str(lab.gateway_namespace).replace("natxy-g-", "d1-")


def trial_of(lab: NamespaceDut, tags: Tags, *, offloads: str, patience_s: int = 3) -> TrialRecord:
    switches = [word for name in OFFLOADS for word in (name, offloads)]
    ethtool = ["ethtool", "-K", right_end(lab), *switches]
    execute(in_namespace(str(lab.gateway_namespace), ethtool))
    ports = lab.tester_ports()
    assert ports is not None
    text = f"{TESTER}warm_up_timeout_s = {patience_s}\n"
    text += "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
    for side, port in ((LEFT, ports.left), (RIGHT, ports.right)):
        text += f'[tester.{side.name}]\ndevice = "{port.device}"\n'
        text += f'ipv4_real = "{side.tester_ipv4}"\nnext_hop_ipv4 = "{side.gateway_ipv4}"\n'
        text += f'own_addresses = ["{side.tester_ipv4}"]\n'
    written = ", ".join(f'{{tpid = "{tpid}", id = {number}}}' for tpid, number in tags)
    with tagged(lab, tags):
        return trial_without_dut(f"{text}vlans = [{written}]\n", lab.tester_namespace, DURATION_S)


@pytest.mark.parametrize(
    ("device", "tags", "offloads"),
    [
        ("af_xdp", ONE, "off"),
        ("af_xdp", TWO, "off"),
        ("af_packet", ONE, "off"),
        ("af_packet", ONE, "on"),  # the driver puts the tag back
    ],
)
def test_every_frame_arrives_with_its_tags(
    device: str, tags: Tags, offloads: str, shared_lab: StartLab
) -> None:
    lab = shared_lab("kernel-router", 4, 4, device=device)
    trial = trial_of(lab, tags, offloads=offloads)
    assert trial.verdict is Verdict.PASS
    assert trial.misdelivered == 0
    assert [stream.received for stream in trial.result.streams] == [FRAMES, FRAMES]


def test_af_xdp_does_not_see_a_tag_beside_the_frame(shared_lab: StartLab) -> None:
    """So docs/tutorial.md says which offloads to switch off."""
    lab = shared_lab("kernel-router", 4, 4, device="af_xdp")
    with pytest.raises(MeasurementError, match=r"right: next hop .* did not answer ARP"):
        trial_of(lab, ONE, offloads="on", patience_s=1)
