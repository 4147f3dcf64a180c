"""The commands of the tutorial's section on NICs, as they stand there, with the addresses of the
guest's NICs. Left out are those that measure for hours, or need a cable between the ports."""

import re

import pytest

from tests.hardware.bench import Bench, whatever_qemu_does
from tests.hardware.nics import NICS, drivers, unbind
from tests.hardware.tester_guest import NATXY
from tests.programs import ROOT

pytestmark = [
    pytest.mark.long,
    pytest.mark.parametrize("nic", ["virtio"], indirect=True),
]
FOLDER = "/tmp/tutorial"
MEASURED = ("natxy trial", "natxy throughput")
# The example is a NAT64 and this gateway a router of IPv4; an emulated core is away for long.
EDITS = """
s/^ipv6_real = .*/ipv4_real = "198.18.0.2"/
s/^next_hop_ipv6 = .*/next_hop_ipv4 = "198.18.0.1"/
/^ipv[46]_virtual = /d
s/^left_ip_version = 6/left_ip_version = 4/
s/^# lateness_tolerance_us = 10000 /lateness_tolerance_us = 1000000 /
"""


def commands() -> list[str]:
    """Returns the commands of section 2, from its blocks of code."""
    section = (ROOT / "docs/tutorial.md").read_text().partition("## 2. Your own two NICs")[2]
    blocks = re.findall(r"^ +(\S.*)$", section, re.MULTILINE)
    starts = ("apt-get", "modprobe", "dpdk-devbind.py", "natxy")
    return [line for line in blocks if line.startswith(starts)]


@whatever_qemu_does
def test_nics_are_measured_as_the_tutorial_says(bench: Bench) -> None:
    guest, said = bench.guest, {}
    bench.gateway.route()
    unbind(guest, bench.nic)
    assert any("--networks 1,256" in command for command in commands())  # hours, so it is left out
    guest.run(f"mkdir -p {FOLDER}; rm -f {FOLDER}/*; echo '{EDITS}' >/tmp/edits")
    for command in commands():
        if command.startswith(("apt-get", "natxy self-test")) or "--networks 1,256" in command:
            continue
        own = command
        for theirs, ours in zip(("0000:01:00.0", "0000:01:00.1"), NICS, strict=True):
            own = own.replace(theirs, ours)
        path = f"PATH={NATXY.parent}:$PATH PYTHONPATH={ROOT}"
        anyhow = "|| true" if command.startswith(MEASURED) else ""  # an invalid trial is no success
        said[command] = guest.run(f"cd {FOLDER}; {path}; export PYTHONPATH; {own} 2>&1 {anyhow}")
        if command.startswith("natxy init"):
            guest.run(f"sed -i -f /tmp/edits {FOLDER}/testbed.toml")
            for theirs, ours in zip(("0000:01:00.0", "0000:01:00.1"), NICS, strict=True):
                guest.run(f"sed -i 's/{theirs}/{ours}/' {FOLDER}/testbed.toml")

    *_, trial, throughput = said.values()
    assert drivers(guest) == ["vfio-pci", "vfio-pci"]
    assert trial.count("lost 0") == trial.count("misdelivered 0,") == 2, trial
    assert "repetition 3/3: throughput" in throughput, throughput[-2000:]
    assert "misdelivered" not in throughput
