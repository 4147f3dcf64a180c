"""One veth pair between the tester's two ports in place of a gateway, for the self-test."""

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses, looped_port
from natxy.dut.execution import ip_batch
from natxy.dut.lab import ENDS, TesterLab
from natxy.dut.links import send_whole_frames, veth_line
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
        ip_batch(name, [veth_line(*ENDS, name, MTU_BYTES)])
        for end in ENDS:
            send_whole_frames(name, end)
        ip_batch(name, [f"link set {end} up" for end in ENDS])
        self._open_ends("auto")

    def _end(self) -> None:
        self._namespace = None
