"""The server of a campaign's pages: whom it answers, and what a client can cost."""

import http.client
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from natxy.cli import campaign_server
from natxy.cli.campaign_server import CONNECTIONS, HEAD_OCTETS, CampaignServer, Page
from natxy.cli.serve import served
from tests.unit.campaigns import run
from tests.unit.serve import running

WAIT_S = 30


class Counted:
    """A page that counts how often it is made, and how often at once."""

    def __init__(self, lasts_s: float = 0.0) -> None:
        self.lasts_s = lasts_s
        self.state = 0
        self.made, self.at_once, self.most_at_once = 0, 0, 0

    def make(self) -> str:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self.lasts_s)
        self.at_once -= 1
        self.made += 1
        return f"<p>made {self.made}</p>"

    @property
    def page(self) -> Page:
        return Page(make=self.make, data=lambda: self.state)


@contextmanager
def serving(counted: Counted, host: str = "127.0.0.1") -> Iterator[CampaignServer]:
    server = CampaignServer(host, 0, {"/": counted.page})
    with running(server):
        yield server


def port_of(server: CampaignServer) -> int:
    return int(server.server_address[1])


def answer(server: CampaignServer, request: bytes) -> bytes:
    """Returns all that comes back for a raw request."""
    family = socket.AF_INET6 if server.address_family == socket.AF_INET6 else socket.AF_INET
    with socket.socket(family) as client:
        client.settimeout(WAIT_S)
        address = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        client.connect((address, port_of(server)))
        client.sendall(request)
        parts = []
        try:
            while part := client.recv(65536):
                parts.append(part)
        except ConnectionResetError:  # it did not read all of a long request
            pass
        return b"".join(parts)


def status(server: CampaignServer, request: bytes) -> int:
    found = re.match(rb"HTTP/1.0 (\d+) ", answer(server, request))
    assert found
    return int(found[1])


def get(
    server: CampaignServer, *, host: str | None = None, more: str = "", verb: str = "GET"
) -> int:
    named = (
        f"127.0.0.1:{port_of(server)}"
        if host is None
        else host.replace("PORT", str(port_of(server)))
    )
    return status(server, f"{verb} / HTTP/1.1\r\nHost: {named}\r\n{more}\r\n".encode())


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT"])
def test_its_own_names_are_answered(host: str) -> None:
    with serving(Counted()) as server:
        assert get(server, host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:PORT",
        "evil.example",
        "127.0.0.1.evil.example:PORT",
        "localhost.evil.example:PORT",
        "localhost@evil.example:PORT",
        "evil.example#127.0.0.1:PORT",
        "127.0.0.2:PORT",
        "0.0.0.0:PORT",
        "2130706433:PORT",
        "[::1]:PORT",
        "127.0.0.1:1",
        "127.0.0.1",
        "127.0.0.1:PORT:PORT",
        "",
        ":PORT",
    ],
)
def test_a_name_that_was_resolved_to_this_machine_is_refused(host: str) -> None:
    """DNS rebinding: a page of another site reads what is served here, by its own name."""
    counted = Counted()
    with serving(counted) as server:
        assert 400 <= get(server, host=host) < 500
    assert counted.made == 0


def test_a_request_has_one_host() -> None:
    with serving(Counted()) as server:
        assert status(server, b"GET / HTTP/1.0\r\n\r\n") == 400
        own = f"Host: 127.0.0.1:{port_of(server)}\r\n"
        assert get(server, more=own) == 400
        assert get(server, more="Host: evil.example\r\n") == 400


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:PORT", 200),
        ("http://127.0.0.1:1", 403),
        ("https://127.0.0.1:PORT", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_a_script_of_another_page_is_refused(origin: str, expected: int) -> None:
    with serving(Counted()) as server:
        port = str(port_of(server))
        assert get(server, more=f"Origin: {origin.replace('PORT', port)}\r\n") == expected


def test_a_server_for_all_addresses_knows_the_one_that_was_reached() -> None:
    with serving(Counted(), "0.0.0.0") as server:
        assert get(server, host="127.0.0.1:PORT") == 200
        assert get(server, host=f"{socket.gethostname()}:PORT") == 200
        assert get(server, host="0.0.0.0:PORT") == 421
        assert get(server, host="evil.example:PORT") == 421


def test_it_listens_on_ipv6_as_well() -> None:
    with serving(Counted(), "::1") as server:
        assert get(server, host="[::1]:PORT") == 200
        assert get(server, host="localhost:PORT") == 200
        assert get(server, host="127.0.0.1:PORT") == 421


@pytest.mark.parametrize(
    "verb", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "nonsense"]
)
def test_another_method_is_refused(verb: str) -> None:
    counted = Counted()
    with serving(counted) as server:
        assert get(server, verb=verb) == 501
        assert get(server, host="evil.example:PORT", verb=verb) == 421
    assert counted.made == 0


def test_head_has_the_headers_of_get_alone() -> None:
    with serving(Counted()) as server:
        own = f"Host: 127.0.0.1:{port_of(server)}\r\n\r\n"
        whole, head = (
            answer(server, f"{verb} / HTTP/1.1\r\n{own}".encode()) for verb in ("GET", "HEAD")
        )
        assert whole.endswith(b"<p>made 1</p>")
        assert head.endswith(b"\r\n\r\n")
        assert b"Content-Length: 13\r\n" in head


@pytest.mark.parametrize("path", ["/", "/nothing", "/../../etc/passwd", "/%2e%2e/etc/passwd"])
def test_every_answer_says_what_a_browser_may_do_with_it(path: str) -> None:
    with serving(Counted()) as server:
        client = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=WAIT_S)
        client.request("GET", path)
        response = client.getresponse()
        assert response.status == (200 if path == "/" else 404)
        policy = response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy, "this page has no script"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "Python" not in response.headers["Server"]
        client.close()


def test_a_page_is_made_once_while_its_data_are_the_same() -> None:
    counted = Counted()
    with serving(counted) as server:
        assert [get(server) for _ in range(3)] == [200] * 3
        assert counted.made == 1
        counted.state += 1
        assert get(server) == 200
        assert counted.made == 2


def test_clients_at_once_have_one_page_made_for_all() -> None:
    counted = Counted(lasts_s=0.3)
    with serving(counted) as server:
        threads = [threading.Thread(target=get, args=(server,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (counted.made, counted.most_at_once) == (1, 1)


def test_clients_that_have_gone_cost_no_page() -> None:
    """Each change of the data would otherwise make a page for each of them."""
    counted = Counted(lasts_s=0.5)
    with serving(counted) as server:
        request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port_of(server)}\r\n\r\n".encode()
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", port_of(server))) as client:
                client.sendall(request)
            counted.state += 1
        deadline = time.monotonic() + WAIT_S
        while counted.at_once and time.monotonic() < deadline:
            time.sleep(0.01)
        assert get(server) == 200
        assert counted.made <= 3
        assert counted.most_at_once == 1


@pytest.mark.parametrize(
    "request_of",
    [
        b"GET /" + b"a" * 10_000_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: " + b"a" * 10_000_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: a\r\n" * 1_000_000 + b"\r\n",
        b"a" * 10_000_000,
    ],
)
def test_a_huge_request_is_not_read_whole(request_of: bytes) -> None:
    with serving(Counted()) as server:
        with socket.create_connection(("127.0.0.1", port_of(server)), timeout=WAIT_S) as client:
            sent = 0
            try:
                while sent < len(request_of):
                    sent += client.send(request_of[sent : sent + 65536])
                    time.sleep(0.001)
            except (BrokenPipeError, ConnectionResetError):
                pass
        assert sent < len(request_of), "the connection was closed before"
        assert HEAD_OCTETS < 100_000
        assert get(server) == 200


def test_a_slow_client_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that sends something now and then."""
    monkeypatch.setattr(campaign_server, "HEAD_S", 0.5)
    with serving(Counted()) as server:
        with socket.create_connection(("127.0.0.1", port_of(server)), timeout=WAIT_S) as client:
            began = time.monotonic()
            try:
                while time.monotonic() - began < WAIT_S:
                    client.sendall(b"G")
                    time.sleep(0.05)
            except (BrokenPipeError, ConnectionResetError):
                pass
            assert time.monotonic() - began < 10
        assert get(server) == 200


def test_a_client_that_does_not_take_the_page_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_server, "BODY_S", 0.5)
    large = Page(make=lambda: "x" * 50_000_000, data=lambda: 0)
    server = CampaignServer("127.0.0.1", 0, {"/": large})
    before = threading.active_count()
    with running(server), socket.create_connection(("127.0.0.1", port_of(server))) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port_of(server)}\r\n\r\n".encode())
        client.recv(1)
        deadline = time.monotonic() + 10
        while threading.active_count() > before + 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert threading.active_count() <= before + 1


def test_many_connections_are_refused_at_once_and_then_answered_again() -> None:
    with serving(Counted()) as server:
        before = threading.active_count()
        with ExitStack() as many:
            clients = [
                many.enter_context(
                    socket.create_connection(("127.0.0.1", port_of(server)), timeout=WAIT_S)
                )
                for _ in range(CONNECTIONS + 20)
            ]
            refused = [client for client in clients[CONNECTIONS:] if b" 503 " in client.recv(100)]
            assert len(refused) == 20
            assert threading.active_count() <= before + CONNECTIONS
        deadline = time.monotonic() + WAIT_S
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert get(server) == 200


def test_events_are_sent_when_they_change_and_only_to_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(campaign_server, "LOOK_S", 0.05)
    monkeypatch.setattr(campaign_server, "STREAMS", 1)
    counted = Counted()
    server = CampaignServer("127.0.0.1", 0, {}, {"/events": counted.page})
    with running(server):
        request = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port_of(server)}\r\n\r\n".encode()
        with (
            socket.create_connection(("127.0.0.1", port_of(server)), timeout=WAIT_S) as client,
            client.makefile() as lines,
        ):
            client.sendall(request)
            while not (line := next(lines)).startswith("data: "):
                pass
            assert line == "data: <p>made 1</p>\n"
            assert status(server, request) == 503
            counted.state += 1
            assert [next(lines), next(lines)] == ["\n", "data: <p>made 2</p>\n"]
        deadline = time.monotonic() + WAIT_S
        while not server.streams.acquire(blocking=False) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert time.monotonic() < deadline, "the place of a client that has gone is free"


def test_a_folder_that_has_gone_is_a_sentence_in_the_browser(
    experiment: Path, tmp_path: Path
) -> None:
    run(experiment, tmp_path / "campaign")
    with running(served(tmp_path / "campaign")) as address:
        port = int(address.rpartition(":")[2])
        (tmp_path / "campaign").rename(tmp_path / "elsewhere")
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        client.request("GET", "/report.html")
        assert client.getresponse().status == 503


def test_the_report_is_made_again_only_when_the_journal_has_changed(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(experiment, tmp_path / "campaign")
    made: list[str] = []

    def page_of(_: object) -> str:
        made.append("<p>report</p>")
        return made[-1]

    monkeypatch.setattr("natxy.cli.serve.page_of", page_of)
    with running(served(tmp_path / "campaign")) as address:
        port = int(address.rpartition(":")[2])
        for _ in range(3):
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            client.request("GET", "/report.html")
            response = client.getresponse()
            assert response.status == 200
            assert "script-src" in response.headers["Content-Security-Policy"]
        assert len(made) == 1
        os.utime(tmp_path / "campaign" / "journal.jsonl.gz")
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        client.request("GET", "/report.html")
        assert client.getresponse().status == 200
        assert len(made) == 2


def test_the_command_takes_only_what_nothing_else_wants(experiment: Path, tmp_path: Path) -> None:
    """Every thread of it: those that make pages as well."""
    run(experiment, tmp_path / "campaign")
    command = [sys.executable, "-c", "from natxy.cli import main; main()", "serve"]
    process = subprocess.Popen(
        [*command, str(tmp_path / "campaign"), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        said = process.stdout.readline()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+) ", said)[1])  # type: ignore[index]
        with socket.create_connection(("127.0.0.1", port)) as waiting:
            waiting.sendall(b"GET")
            tasks, deadline = Path(f"/proc/{process.pid}/task"), time.monotonic() + WAIT_S
            while len(threads := list(tasks.iterdir())) == 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(threads) > 1, "one for the connection"
            for thread in threads:
                assert os.sched_getscheduler(int(thread.name)) == os.SCHED_IDLE
                assert os.getpriority(os.PRIO_PROCESS, int(thread.name)) == 19
    finally:
        process.kill()
        process.communicate()
