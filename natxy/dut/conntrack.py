"""The kernel's connection tracking table.

In a network namespace, its numbers of entries and hash buckets belong to the whole machine and are
read-only; its count and its timeouts belong to the namespace.
"""

import subprocess
import tempfile
from math import ceil
from pathlib import Path
from typing import IO

from natxy.dut.base import TableParameters
from natxy.dut.process import Process, within
from natxy.dut.site import NamespaceSite, Site, seconds_of, timed
from natxy.errors import DutError
from natxy.interrupts import without_interrupts
from natxy.model.reason import Code, Reason

FOLDER = "net/netfilter"  # of /proc/sys
SIZES = {"entries": "nf_conntrack_max", "hash_size": "nf_conntrack_buckets"}
# TCP: half open, open, with data that nobody acknowledges (docs/decisions/0033), and while it is
# closed by FIN. TIME_WAIT and CLOSE are left: a connection in them has been torn down.
TIMEOUTS = (
    "nf_conntrack_udp_timeout",
    "nf_conntrack_udp_timeout_stream",
    "nf_conntrack_tcp_timeout_syn_sent",
    "nf_conntrack_tcp_timeout_syn_recv",
    "nf_conntrack_tcp_timeout_established",
    "nf_conntrack_tcp_timeout_unacknowledged",
    "nf_conntrack_tcp_timeout_max_retrans",
    "nf_conntrack_tcp_timeout_fin_wait",
    "nf_conntrack_tcp_timeout_close_wait",
    "nf_conntrack_tcp_timeout_last_ack",
)
DELETES_WITHIN_S = 600
LISTENS = ("conntrack", "-E", "-e", "NEW", "-o", "timestamp")
LISTENS_WITHIN_S = 2.0
PROTOCOL, GROUPS = 1, 3  # columns of /proc/net/netlink
NETLINK_NETFILTER, NEW_CONNECTIONS = 12, 1 << 0  # linux/netlink.h; NFNLGRP_CONNTRACK_NEW
LOG_BUFFER_BYTES = 2**24
LOGGING = "conntrack -E -e NEW to a file; connections are left out while its buffer is full"
# bash's own clock needs no further process, so the time is that of the deletion and one exec.
TIMED_DELETION = 's=$EPOCHREALTIME; conntrack -F 2>/dev/null; e=$EPOCHREALTIME; echo "$s $e"'


class Conntrack:
    """A ConnectionTable; all of its sizes belong to the place alone, as in a guest."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._at_start: dict[str, int] = {}

    def start(self) -> None:
        """Sets timeout and sizes as the testbed says."""
        config = self._site.config
        self.set_timeout(config.udp_timeout_s)
        entries = config.conntrack_entries
        self.resize(entries=entries, hash_size=config.hash_size or entries)
        self._at_start = self.sizes()

    def stop(self) -> None:
        """Ends what `start` started; the place is removed with all else."""

    def renew(self) -> None:
        """Restores the state after `start`."""
        self.clear()
        self.set_timeout(self._site.config.udp_timeout_s)
        self.resize(**self._at_start)

    def describe(self) -> dict[str, str]:
        table = self.parameters()
        return {
            "conntrack_entries": str(table.entries),
            "conntrack_buckets": str(table.hash_size),
            "udp_timeout_s": f"{table.timeout_s:g}",
        }

    def fault(self) -> Reason | None:
        """Returns a reason if the last trial is invalid because the table was disturbed."""
        return None

    def parameters(self) -> TableParameters:
        timeouts = (self._number(name) for name in TIMEOUTS)
        return TableParameters(**self.sizes(), timeout_s=float(min(timeouts)))

    def sizes(self) -> dict[str, int]:
        """Returns the sizes, by their names in `resize`."""
        return {key: self._size(name) for key, name in SIZES.items()}

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        for key, value in (("hash_size", hash_size), ("entries", entries)):
            if value is not None:
                self._site.set_sysctls({f"{FOLDER}/{SIZES[key]}": value})

    def set_timeout(self, timeout_s: float) -> None:
        """Sets the timeouts of UDP connections with and without an answer, and those of TCP, in
        whole seconds."""
        whole_s = ceil(timeout_s)
        self._site.set_sysctls({f"{FOLDER}/{name}": whole_s for name in TIMEOUTS})

    def count(self) -> int:
        return self._number("nf_conntrack_count")

    def delete_all(self) -> float:
        """Runs `conntrack -F` and times it by the guest's clock."""
        seconds = seconds_of(self._site.run(timed("conntrack -F"), within_s=DELETES_WITHIN_S))
        if left := self.count():
            raise DutError(f"`conntrack -F` left {left:,} connections in the guest's table.")
        return seconds

    def clear(self) -> None:
        self._site.run("conntrack -F", within_s=DELETES_WITHIN_S)

    def _number(self, name: str) -> int:
        return int(self._site.sysctl(f"{FOLDER}/{name}"))

    def _size(self, name: str) -> int:
        return self._number(name)


class SharedConntrack(Conntrack):
    """The table of a namespace, whose sizes are those of the machine, and the log of connections.

    The settings of the first namespace are restored when the lab is removed.
    """

    _site: NamespaceSite

    def __init__(self, site: NamespaceSite) -> None:
        super().__init__(site)
        self._kept: dict[str, int] = {}  # sizes as this lab set or found them
        self._log = ConnectionLog(site)

    def start(self) -> None:
        super().start()
        self._log.start()

    def stop(self) -> None:
        self._log.stop()

    def clear(self) -> None:
        super().clear()
        self._log.clear()

    def describe(self) -> dict[str, str]:
        return {**super().describe(), "logging": LOGGING if self._site.config.logging else "off"}

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        for key, value in (("hash_size", hash_size), ("entries", entries)):
            name = SIZES[key]
            if value is not None:
                self._site.ledger.change_setting(f"/proc/sys/{FOLDER}/{name}", str(value))
            if value is not None or name not in self._kept:
                self._kept[name] = self._size(name)  # buckets are rounded up to whole pages

    def delete_all(self) -> float:
        """Runs `conntrack -F` and times it by this machine's clock."""
        return seconds_of(self._site.run(f"bash -c '{TIMED_DELETION}'", within_s=DELETES_WITHIN_S))

    def fault(self) -> Reason | None:
        """Returns a reason if another lab has changed the sizes, which all labs share, or the log
        has ended."""
        for name, wanted in self._kept.items():
            if (now := self._size(name)) != wanted:
                return Reason.of(
                    Code.TABLE_RESIZED, f"/proc/sys/{FOLDER}/{name}", now=now, wanted=wanted
                )
        return self._log.fault()

    def _size(self, name: str) -> int:
        return int(Path("/proc/sys", FOLDER, name).read_text())


class ConnectionLog:
    """The gateway's log of new connections (RFC 6888 section 4), one line each, in a file.

    It is empty unless the testbed asks for it. Connections are left out while its buffer is full;
    the gateway does not wait for the log.
    """

    def __init__(self, site: NamespaceSite) -> None:
        self._site = site
        self._process: subprocess.Popen[bytes] | None = None
        self._file: IO[bytes] | None = None

    def start(self) -> None:
        if not self._site.config.logging:
            return
        # It has no name, and may be larger than the memory in which the runtime folder is.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        with without_interrupts():
            self._process = subprocess.Popen(
                self._site.pinned([*LISTENS, "-b", str(LOG_BUFFER_BYTES)]),
                stdin=subprocess.DEVNULL,
                stdout=self._file,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        pid = self._process.pid
        self._site.ledger.note_process(pid)
        if not within(LISTENS_WITHIN_S, lambda: _is_told_of_new_connections(pid)):
            raise DutError(
                f"`conntrack -E` did not begin to log connections within {LISTENS_WITHIN_S:g} s."
            )

    def clear(self) -> None:
        """Deletes the lines of earlier trials."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.seek(0)

    def fault(self) -> Reason | None:
        if self._process is None or self._process.poll() is None:
            return None
        return Reason.of(Code.LOG_ENDED, status=self._process.returncode)

    def stop(self) -> None:
        if self._process is not None:
            Process.of(self._process.pid).end()
            self._process.wait()
            self._process = None
        if self._file is not None:
            self._file.close()
            self._file = None


def _is_told_of_new_connections(pid: int) -> bool:
    """Returns whether the process, the only one in its namespace, listens for connections."""
    try:
        lines = Path(f"/proc/{pid}/net/netlink").read_text().splitlines()[1:]
        has_begun = Path(f"/proc/{pid}/comm").read_text().strip() == LISTENS[0]
    except OSError:
        return False
    sockets = [line.split() for line in lines]
    return has_begun and any(
        int(each[PROTOCOL]) == NETLINK_NETFILTER and int(each[GROUPS], 16) & NEW_CONNECTIONS
        for each in sockets
    )
