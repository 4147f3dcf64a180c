"""The HTTP server of a campaign's pages, for browsers that name it by its own address.

What clients can cost is bounded: the size of a request and the time for it, the number of
connections, and the making of pages: one at a time, and again only when the data have changed.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from ipaddress import ip_address
from typing import Any

from natxy.errors import NatxyError

HEAD_OCTETS = 16_384  # of a request
HEAD_S = 10.0  # in which a client sends it
BODY_S = 60.0  # in which a client takes the page
CONNECTIONS = 32
STREAMS = 8  # of these, at most so many wait for events
LOOK_S = 1.0  # after which the data of events are looked at again
ALIVE_S = 15.0  # after which a client is asked whether it is still there
END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>\d{1,5}))?")
HTTP_PORT = 80
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
HTML = "text/html; charset=utf-8"
STYLES = "default-src 'none'; style-src 'unsafe-inline'"
NO_FRAMES = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
FULL = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


def take_lowest_priority() -> None:
    """Gives this process only the CPU time that nothing else on the machine wants."""
    os.nice(19)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


@dataclass(kw_only=True)
class Page:
    """A page that is made when its data have changed, and kept until then."""

    make: Callable[[], str]
    data: Callable[[], Hashable]  # differs if the page would
    policy: str = STYLES  # its Content-Security-Policy, beside what all pages have
    content_type: str = HTML
    _made_of: Hashable = field(default=None, init=False)
    _body: bytes = field(default=b"", init=False)

    def body(self) -> bytes:
        """Returns the page's text; one thread at a time calls this."""
        data = self.data()
        if not self._body or data != self._made_of:
            self._body, self._made_of = self.make().encode(), data
        return self._body


def _text_of(events: Page) -> bytes:
    """Returns the text of events; empty if the folder cannot be read now."""
    try:
        return events.body()
    except (NatxyError, OSError):
        return b""


class CampaignServer(ThreadingHTTPServer):
    """Serves pages by their paths, and nothing else.

    What is among `events` is one line of text, which is sent whenever it has changed, as
    server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    """

    def __init__(
        self, host: str, port: int, pages: dict[str, Page], events: dict[str, Page] | None = None
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.pages, self.events = pages, events or {}
        self.ended = threading.Event()
        self.streams = threading.BoundedSemaphore(STREAMS)
        self.asked_host = host
        self.making = threading.Lock()
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__((host, port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            request.setblocking(False)
            try:
                request.send(FULL)
            finally:
                self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def server_close(self) -> None:
        self.ended.set()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: the client has gone, or its browser shows the error."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: CampaignServer
    server_version, sys_version = "natxy", ""
    _policy = STYLES

    def handle(self) -> None:
        head, error = self._head()
        self.rfile = BytesIO(head)
        self.connection.settimeout(BODY_S)
        if error is not None:
            self.requestline = self.request_version = self.command = ""
            self.send_error(error)
        elif head:
            self.handle_one_request()

    def _head(self) -> tuple[bytes, HTTPStatus | None]:
        """Reads the request's head; returns it, and an error if it is too long or too late."""
        head, end_s = b"", time.monotonic() + HEAD_S
        while not END_OF_HEAD.search(head):
            if len(head) > HEAD_OCTETS:
                return b"", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self.connection.settimeout(max(0.001, end_s - time.monotonic()))
            try:
                part = self.connection.recv(HEAD_OCTETS)
            except TimeoutError:
                return b"", HTTPStatus.REQUEST_TIMEOUT
            if not part:
                return b"", HTTPStatus.BAD_REQUEST if head else None
            head += part
        return head, None

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        hosts, origins = (self.headers.get_all(name, []) for name in ("Host", "Origin"))
        if len(hosts) != 1:
            self.send_error(HTTPStatus.BAD_REQUEST, explain="Expected one Host.")
        elif not self._is_own(hosts[0].strip().lower()):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain="Expected another Host.")
        elif any(each.lower() != f"http://{hosts[0].strip().lower()}" for each in origins):
            self.send_error(HTTPStatus.FORBIDDEN, explain="Expected a page of this server.")
        else:
            return True
        return False

    def _is_own(self, host: str) -> bool:
        """Tells whether a Host is the address of this connection, or a name that stands for it.

        A page of another site that has its name resolved to this machine has its own name here.
        """
        named = HOST.fullmatch(host)
        address, port = self.connection.getsockname()[:2]
        if named is None or int(named["port"] or HTTP_PORT) != port:
            return False
        try:
            return ip_address(named["six"] or named["name"]) == ip_address(address)
        except ValueError:  # a name
            own = {self.server.asked_host.lower(), socket.gethostname().lower()}
            if ip_address(address).is_loopback:
                own.add("localhost")
            return named["name"] in own

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if self.command != "HEAD" and (events := self.server.events.get(path)):
            self._send_events(events)
            return
        page = self.server.pages.get(path)
        if page is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            with self.server.making:
                if self._has_gone():
                    return
                body = page.body()
        except (NatxyError, OSError) as error:
            why = error.in_options if isinstance(error, NatxyError) else str(error)
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, explain=why)
            return
        self._policy = page.policy
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_events(self, of: Page) -> None:
        """Sends the text now and whenever it changes, until the client goes or the server ends."""
        if not self.server.streams.acquire(blocking=False):
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, explain="Too many pages are open.")
            return
        try:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            self._send_changes(of)
        except OSError:
            return  # the client has gone
        finally:
            self.server.streams.release()

    def _send_changes(self, of: Page) -> None:
        sent, last_s = b"", 0.0
        while not self.server.ended.is_set():
            with self.server.making:
                body = _text_of(of)
            if body != sent:
                self.wfile.write(b"data: " + body + b"\n\n")
            elif time.monotonic() - last_s >= ALIVE_S:
                self.wfile.write(b":\n\n")
            if body != sent or time.monotonic() - last_s >= ALIVE_S:
                sent, last_s = body, time.monotonic()
            if self.server.ended.wait(LOOK_S) or self._has_gone():
                return

    def do_HEAD(self) -> None:
        self.do_GET()

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", f"{self._policy}; {NO_FRAMES}")
        super().end_headers()

    def _has_gone(self) -> bool:
        """Tells whether the client has closed the connection while it waited."""
        self.connection.settimeout(0)
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(BODY_S)

    def log_message(self, *_: Any) -> None:
        """Says nothing of each page, nor of errors, which the browser shows."""
