"""One veth pair between the tester's two ports in place of a gateway, for the self-test."""

from natxy.dut.addresses import LEFT, RIGHT, looped_port
from natxy.dut.base import TesterPorts
from natxy.dut.devices import DeviceKind, device_string, usable_device_kind
from natxy.dut.execution import ip_batch, set_sysctls
from natxy.dut.lab import Lab
from natxy.dut.links import QUEUES, send_whole_frames
from natxy.dut.namespaces import make_namespace
from natxy.errors import DutError

MTU_BYTES = 1500


class VethLoop(Lab):
    """A veth pair in a namespace of its own, which `start` makes and `stop` removes."""

    def __init__(self) -> None:
        super().__init__()
        self._namespace: str | None = None
        self._device_kind = DeviceKind(name="")

    def restart(self) -> str:
        raise DutError("A cable cannot be reset (expected a testbed with a gateway).")

    def describe(self) -> dict[str, str]:
        return {"kind": "loop", "name": "veth", "device_kind": str(self._device_kind)}

    @property
    def tester_namespace(self) -> str | None:
        return self._namespace

    def tester_ports(self) -> TesterPorts | None:
        if self._namespace is None:
            return None
        left, right = (
            device_string(self._device_kind, number, name, mtu_bytes=MTU_BYTES)
            for number, name in enumerate(("t0", "t1"))
        )
        return TesterPorts(
            left=looped_port(LEFT, RIGHT, left),
            right=looped_port(RIGHT, LEFT, right),
            mtu_bytes=MTU_BYTES,
        )

    def _make(self) -> None:
        self._namespace = name = f"natxy-t-{self._ledger.label}"
        self._ledger.note_namespace(name)
        make_namespace(name)
        set_sysctls(name, {"net/ipv6/conf/default/disable_ipv6": 1})
        mtu = f"mtu {MTU_BYTES}"
        ip_batch(name, [f"link add t0 {mtu} {QUEUES} type veth peer name t1 {mtu} {QUEUES}"])
        for interface in ("t0", "t1"):
            send_whole_frames(name, interface)
        ip_batch(name, ["link set t0 up", "link set t1 up"])
        self._device_kind = usable_device_kind(name, "t0", "auto")

    def _end(self) -> None:
        self._namespace = None
