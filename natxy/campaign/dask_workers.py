"""The workers of Dask that measure cells: one for each testbed, with the resource "testbed".

Everything that is started here listens on the loopback interface alone, and talks only to who has
the certificate that this process makes: workers run as root what they are sent, and other users of
the machine reach the loopback interface as well.
"""

import logging
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from natxy.errors import ConfigurationError, MeasurementError
from natxy.setting import Setting

SCHEDULER = Setting("scheduler")
LOOPBACK = "127.0.0.1"
TLS = "tls"
RESOURCE = "testbed"
DEATHS = 2  # a cell is given to another worker after so many deaths; after one more it fails
WAIT_S = 60  # for the workers, at the start
LOOK_S = 0.2
SETTINGS = {
    "distributed.scheduler.allowed-failures": DEATHS,
    # What would take CPU time from a measurement on the same machine.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
}


def check_installed() -> None:
    """Raises ConfigurationError if the extra is not installed."""
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            Setting("testbeds"),
            f": the Python package {missing.name} is not installed (`pip install "
            '"natxy[distributed]"` installs it)',
        ) from None


def check_scheduler(address: str) -> None:
    """Raises ConfigurationError if the network can reach this scheduler without TLS."""
    if not _is_closed(address):
        raise ConfigurationError(
            SCHEDULER,
            f": {address} has no TLS, and whoever reaches it runs programs as root (expected an "
            "address that begins with tls://, or one of 127.0.0.1)",
        )


def _is_closed(address: str) -> bool:
    """Tells whether only those with a certificate, or on this machine, reach an address."""
    scheme, _, place = address.rpartition("://")
    if scheme == TLS:
        return True
    try:
        host = urlsplit(f"//{place}").hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # another name, which may be that of any machine
        return False


def _refuse_open(addresses: Iterable[str]) -> None:
    """Raises ConfigurationError if a node of Dask listens to the network without TLS."""
    for address in addresses:
        if not _is_closed(address):
            raise ConfigurationError(
                SCHEDULER,
                f": one of its nodes listens at {address} without TLS, and whoever reaches it runs "
                "programs as root (expected tls:// of all nodes)",
            )


@contextmanager
def client_of(scheduler: str, testbeds: int) -> Iterator[Any]:
    """Yields a client of the scheduler at this address; if it is empty, of one that is started."""
    import dask
    from distributed import Client

    with dask.config.set(SETTINGS):
        if scheduler:
            with _connected(scheduler, testbeds) as client:
                yield client
            return
        with _cluster(testbeds) as cluster, Client(cluster) as client:
            wait_for_workers(client, testbeds)
            yield client


def workers_of(client: Any) -> dict[str, str]:
    """Returns the addresses of the workers that measure, by name: the number of the testbed."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    return {
        str(worker["name"]): address
        for address, worker in known.items()
        if worker["resources"].get(RESOURCE)
    }


def is_on_this_machine(address: str) -> bool:
    """Tells whether a worker's address, such as tcp://10.0.0.1:4000, is one of this machine."""
    host = urlsplit(address).hostname
    if not host:
        return False
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True


def wait_for_workers(client: Any, testbeds: int) -> None:
    """Waits for a worker of each testbed; raises MeasurementError, which names those missing."""
    end = time.monotonic() + WAIT_S
    while missing := [str(n) for n in range(1, testbeds + 1) if str(n) not in workers_of(client)]:
        if time.monotonic() > end:
            several = len(missing) > 1
            raise MeasurementError(
                f"{client.scheduler.address}: testbed{'s' * several} {' and '.join(missing)} "
                f"{'have' if several else 'has'} no process after {WAIT_S} s (expected for example "
                f"`dask worker {client.scheduler.address} --name {missing[0]} --nthreads 1 "
                f"--resources {RESOURCE}=1`)"
            )
        time.sleep(LOOK_S)


def _cluster(testbeds: int) -> Any:
    """Returns a scheduler in this process, and a process for each testbed, named by its number."""
    from distributed import Nanny, Security, SpecCluster

    from natxy.campaign.dask_nodes import Scheduler, Worker

    security = Security.temporary()
    listens = {"host": LOOPBACK, "protocol": f"{TLS}://", "security": security}
    options = {
        **listens,
        "worker_class": Worker,
        "nthreads": 1,
        "resources": {RESOURCE: 1},
        "memory_limit": 0,  # no limit
        "silence_logs": logging.CRITICAL,
    }
    return SpecCluster(
        scheduler={"cls": Scheduler, "options": {**listens, "port": 0, "dashboard": False}},
        workers={
            str(number): {"cls": Nanny, "options": options} for number in range(1, testbeds + 1)
        },
        security=security,
        silence_logs=logging.CRITICAL,
    )


@contextmanager
def _connected(scheduler: str, testbeds: int) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=WAIT_S)
    except (OSError, TypeError, ValueError) as error:  # TypeError: there is no certificate
        raise ConfigurationError(
            SCHEDULER,
            f": {scheduler} cannot be reached: {error} (expected the address that `dask scheduler` "
            "shows)",
        ) from None
    with client:
        known = client.scheduler_info(n_workers=-1)
        _refuse_open([known["address"], *known["workers"]])
        wait_for_workers(client, testbeds)
        _refuse_open(workers_of(client).values())
        yield client
