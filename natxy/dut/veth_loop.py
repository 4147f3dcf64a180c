"""One veth pair between the tester's two ports in place of a gateway, for the self-test."""

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses, looped_port
from natxy.dut.execution import ip_batch
from natxy.dut.lab import TesterLab
from natxy.dut.links import QUEUES, send_whole_frames
from natxy.errors import DutError
from natxy.model.testbed import Port

MTU_BYTES = 1500


class VethLoop(TesterLab):
    """A veth pair in a namespace of its own, which `start` makes and `stop` removes."""

    _mtu_bytes: int = MTU_BYTES

    def restart(self) -> str:
        raise DutError("A cable cannot be reset (expected a testbed with a gateway).")

    def describe(self) -> dict[str, str]:
        return {"kind": "loop", "name": "veth", "device_kind": str(self._device_kind)}

    def _port(self, side: SideAddresses, device: str) -> Port:
        return looped_port(side, RIGHT if side is LEFT else LEFT, device)

    def _make(self) -> None:
        name = self._make_namespace()
        mtu = f"mtu {MTU_BYTES}"
        ip_batch(name, [f"link add t0 {mtu} {QUEUES} type veth peer name t1 {mtu} {QUEUES}"])
        for interface in ("t0", "t1"):
            send_whole_frames(name, interface)
        ip_batch(name, ["link set t0 up", "link set t1 up"])
        self._open_ends("auto")

    def _end(self) -> None:
        self._namespace = None
