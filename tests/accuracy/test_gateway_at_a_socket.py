"""A gateway that the testbed's commands start, at a memif: nobody says where it runs."""

import json
from pathlib import Path

from natxy.dut.choice import dut_of
from natxy.dut.gateway_process import gateway_program
from natxy.dut.process import within
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.trial.setup import set_up
from tests.accuracy.truth import Row, found
from tests.noise import taken
from tests.valid import valid

RATE_FPS = 20_000

TESTBED = """
[tester]
cores = [0]
[tester.left]
device = "net_memif0,role=client,id=0,socket={folder}/left,socket-abstract=no"
ipv4_real = "198.18.0.2"
next_hop_mac = "02:00:00:00:00:01"
[tester.right]
device = "net_memif1,role=client,id=0,socket={folder}/right,socket-abstract=no"
ipv4_real = "198.19.0.2"
next_hop_mac = "02:00:00:00:00:02"
[traffic]
left_ip_version = 4
right_ip_version = 4
direction = "forward"
[dut]
kind = "command"
start = "sh {folder}/start"
stop = "kill $(cat {folder}/pid)"
"""
# The sleep keeps the gateway's input open.
START = """\
cd {folder}
mkfifo input
device=role=server,id=0,socket-abstract=no
{program} --core 1 --left net_memif0,$device,socket={folder}/left,mac=02:00:00:00:00:01 \\
  --right net_memif1,$device,socket={folder}/right,mac=02:00:00:00:00:02 <input >log 2>&1 &
echo $! >pid
sleep 300 >input 2>&1 &
echo $! >>pid
echo '{configure}' >input
for _ in $(seq 100); do grep -q configured log && exit; sleep 0.1; done
exit 1
"""
POLICER = {"kind": "rate_limit", "direction": "both", "rate_fps": RATE_FPS, "depth": 8}


def test_it_is_watched_so_that_noise_does_not_lower_its_rate(tmp_path: Path) -> None:
    configure = json.dumps({"request": "configure", "config": {"faults": [POLICER]}})
    start = START.format(configure=configure, program=gateway_program(), folder=tmp_path)
    (tmp_path / "start").write_text(start)
    source = Source(name="t.toml", text=TESTBED.format(folder=tmp_path))
    testbed: Testbed = source.validated(Testbed, source.toml())
    with set_up(testbed, source, dut_of(testbed, source)) as session, taken("5%"):
        assert within(10, lambda: [each.cpu for each in session.dut.watched] == [1])
        rate = valid(
            lambda: found(Row(RATE_FPS, ""), session, 1),
            lambda each: [each.why] if each.value is None else [],
        )
    assert not rate.is_wrong(RATE_FPS, RATE_FPS, 0)
