"""The guest as a process: QEMU with two tap interfaces, started by KVM where it works."""

import contextlib
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from natxy.errors import DutError
from natxy.guest.channel import Channel, ChannelError
from natxy.guest.image import INITRAMFS, KERNEL
from natxy.interrupts import without_interrupts
from natxy.program_output import OutputTooLong, end_of, start
from natxy.runtime_folder import opened, runtime_folder

T = TypeVar("T")
QEMU = "qemu-system-x86_64"
Accelerator = Literal["kvm", "tcg"]
KVM = Path("/dev/kvm")
KVM_FAILED = "guest-kvm-failed"  # in the runtime folder, which a reboot of this machine empties
BOOTS_WITHIN_S: dict[Accelerator, float] = {"kvm": 10.0, "tcg": 120.0}
ANSWERS_WITHIN_S = 30.0
CONSOLE_GROWS_WITHIN_S = 0.5
PANIC = "Kernel panic"
INTERRUPTED = "was interrupted before it had answered"
APPEND = (
    "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check audit=0 "
    "slab_nomerge net.ifnames=0"
)
# What a virtual NIC would do for the guest changes the frames, or their number.
OFFLOADS = ",".join(
    f"{name}=off"
    for name in (
        *("csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"),
        *("host_tso4", "host_tso6", "host_ecn", "host_ufo", "mrg_rxbuf", "ctrl_guest_offloads"),
    )
)
RING_FRAMES = 1024
CLOCK_TOLERANCE = 0.02
CLOCK_COMPARED_S = 1.0  # at first, and again while the answers take too long to tell
CLOCK_TOLD_WITHIN_S = 15.0


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """A time of the guest, and the time of this machine at which it was read, with its error."""

    at_s: float
    guest_s: float
    error_s: float


@dataclass(frozen=True, kw_only=True)
class MachineSpec:
    """The guest's resources; `prefix` is the command that puts QEMU in its namespace."""

    image: Path  # the folder with its kernel and its programs
    taps: tuple[str, ...]
    prefix: tuple[str, ...]
    console: Path
    cores: int = 1
    memory_mb: int = 1024
    accelerator: Literal["auto", "kvm", "tcg"] = "auto"


class Machine:
    """A guest that runs. Every method raises DutError if it hangs, panics or has ended."""

    def __init__(
        self, spec: MachineSpec, accelerator: Accelerator, note: Callable[[int], None]
    ) -> None:
        """Starts QEMU and waits until the guest has booted; `note` is told the process number."""
        self.accelerator: Accelerator = accelerator
        self._console = spec.console
        self._lock = threading.Lock()  # a gateway may be reset while another thread asks it
        self._missed = ""  # how an answer was missed; empty: none was
        own, other = socket.socketpair()
        self._channel = Channel(own)
        command = [*spec.prefix, *qemu_arguments(spec, accelerator, other.fileno())]
        log = spec.console.with_suffix(".qemu")
        with contextlib.ExitStack() as ended:
            with other, without_interrupts():
                self._process = start(command, log, pass_fds=(other.fileno(),))
                ended.callback(self.stop)
            note(self._process.pid)
            self._answer(lambda: self._channel.wait_until_ready(BOOTS_WITHIN_S[accelerator]))
            ended.pop_all()

    def run(self, command: str, within_s: float = ANSWERS_WITHIN_S) -> str:
        """Executes a bash command in the guest and returns what it prints."""
        return self._answer(lambda: self._channel.run(command, within_s))

    def check(self) -> None:
        """Raises DutError if the guest does not answer any more."""
        self.run(":")

    def check_clock(self, first: Clocks) -> None:
        """Compares the guest's clock with this machine's, since its own times are reported.

        first: an earlier reading of `clocks`; the less time has passed since then, the longer this
        takes.

        On a busy machine, a question takes milliseconds, in which the guest reads its clock at an
        unknown moment. This error of the ratio gets smaller the longer the clocks are compared.
        """
        wait_s = first.at_s + CLOCK_COMPARED_S - time.monotonic()
        while True:
            time.sleep(max(0, wait_s))
            last = self.clocks()
            passed_s = last.at_s - first.at_s
            ratio = (last.guest_s - first.guest_s) / passed_s
            error = (first.error_s + last.error_s) / passed_s
            if abs(ratio - 1) <= CLOCK_TOLERANCE:
                return
            if abs(ratio - 1) > CLOCK_TOLERANCE + error or passed_s > CLOCK_TOLD_WITHIN_S:
                raise DutError(
                    f"The guest's clock runs at {ratio:.3f} times the speed of this machine's "
                    f"(expected 1 within {CLOCK_TOLERANCE:.0%})."
                )
            wait_s = CLOCK_COMPARED_S

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def threads(self) -> tuple[int, ...]:
        """QEMU's threads: the guest's CPUs, and what moves its frames."""
        try:
            names = os.listdir(f"/proc/{self.pid}/task")
        except OSError:
            return ()
        return tuple(sorted(int(name) for name in names))

    def stop(self) -> None:
        """Ends QEMU; there is nothing in the guest that must be saved."""
        self._channel.close()
        self._process.kill()
        self._process.wait()

    def clocks(self) -> Clocks:
        """Reads the clocks of the guest and of this machine a few times; returns the reading that
        was answered most quickly."""
        return min((self._clocks_once() for _ in range(5)), key=lambda each: each.error_s)

    def _clocks_once(self) -> Clocks:
        begin_s = time.monotonic()
        guest_s = float(self.run("echo $EPOCHREALTIME"))
        half_s = (time.monotonic() - begin_s) / 2
        return Clocks(at_s=begin_s + half_s, guest_s=guest_s, error_s=half_s)

    def _answer(self, ask: Callable[[], T]) -> T:
        """Asks, unless an answer is missing: it may come yet, and would be taken for the next."""
        try:
            with self._lock:
                if self._missed:
                    raise ChannelError(self._missed)
                try:
                    return ask()
                except DutError:  # an answer: the command failed
                    raise
                except BaseException as error:  # known before the next thread has the lock
                    self._missed = str(error) if isinstance(error, ChannelError) else INTERRUPTED
                    raise
        except ChannelError as error:
            raise DutError(self._obituary(str(error))) from error

    def _obituary(self, what: str) -> str:
        """Returns what became of the guest, with the last line that it, or QEMU, wrote."""
        time.sleep(CONSOLE_GROWS_WITHIN_S)  # for the console's last words
        status = self._process.poll()
        errors = end_of(self._console.with_suffix(".qemu")).strip()
        try:
            console = last_words(end_of(self._console))
        except OSError:
            console = last_words("")
        if PANIC in console:
            return f"The guest's kernel panicked: {console}"
        if status == -signal.SIGXFSZ:
            return f"The guest's console {OutputTooLong()}"
        if status is not None:
            said = errors.splitlines()[-1] if errors else f"its console's last line was: {console}"
            return f"The guest's QEMU ended with status {status}; {said}"
        return f"The guest {what}; its console's last line was: {console}"


def need_qemu() -> None:
    """Raises DutError without QEMU, before a guest is built that could not run."""
    if shutil.which(QEMU) is None:
        raise DutError(f"`{QEMU}` is not installed (`tools/install guest` installs it).")


def boot(spec: MachineSpec, note: Callable[[int], None]) -> Machine:
    """Boots the guest by KVM if that works on this machine, else by TCG.

    A /dev/kvm that exists may accept a guest that then never runs. That it did is remembered until
    this machine reboots, because finding out takes as long as a boot may take.
    """
    if spec.accelerator == "tcg" or (spec.accelerator == "auto" and not _kvm_may_work()):
        return Machine(spec, "tcg", note)
    try:
        return Machine(spec, "kvm", note)
    except DutError:
        if spec.accelerator == "kvm":
            raise
    machine = Machine(spec, "tcg", note)
    _remember_that_kvm_failed()  # only now: the guest itself boots
    return machine


def _kvm_may_work() -> bool:
    folder = runtime_folder()
    failed = folder is not None and (folder / KVM_FAILED).exists()
    return not failed and os.access(KVM, os.R_OK | os.W_OK)


def _remember_that_kvm_failed() -> None:
    if (folder := runtime_folder()) is not None:
        opened(folder / KVM_FAILED, "a").close()


def qemu_arguments(spec: MachineSpec, accelerator: Accelerator, control_fd: int) -> Sequence[str]:
    """Returns QEMU's command line; the control channel is the open file `control_fd`."""
    threads = ",thread=multi" if accelerator == "tcg" else ""
    return [
        *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-accel", f"{accelerator}{threads}", "-machine", "q35"),
        *("-cpu", "host" if accelerator == "kvm" else "qemu64"),
        *("-smp", str(spec.cores), "-m", str(spec.memory_mb)),
        *("-kernel", str(spec.image / KERNEL), "-initrd", str(spec.image / INITRAMFS)),
        *("-append", APPEND),
        *("-chardev", f"file,id=console,path={spec.console}", "-serial", "chardev:console"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=control,fd={control_fd}"),
        *("-device", "virtserialport,chardev=control,name=natxy"),
        *(word for n, tap in enumerate(spec.taps) for word in _nic(n, tap)),
    ]


def _nic(number: int, tap: str) -> tuple[str, ...]:
    return (
        "-netdev",
        f"tap,id=n{number},ifname={tap},script=no,downscript=no,vhost=off",
        "-device",
        f"virtio-net-pci,netdev=n{number},mac=02:00:00:00:0d:{number:02x},romfile=,"
        f"rx_queue_size={RING_FRAMES},{OFFLOADS}",
    )


def last_words(console: str) -> str:
    """Returns the console's last line, or that of a kernel panic, which more lines follow."""
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    panics = [line for line in lines if PANIC in line and "end " + PANIC not in line]
    return [*(lines or ["nothing"]), *panics][-1]
