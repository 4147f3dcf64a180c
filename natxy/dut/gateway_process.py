"""natxy-gateway as a child process, with one JSON request or event a line."""

import json
from threading import Lock
from typing import Any

from natxy.errors import DutError
from natxy.installed import HOW, find_program
from natxy.line_process import TOO_LONG, LineProcess
from natxy.program_output import OutputTooLong

ANSWERS_WITHIN_S = 10.0
PROTOCOL = 1
SHOWN_BYTES = 60  # of a line that is none of the protocol


def gateway_program() -> str:
    """Returns the calibration gateway's path; DutError if there is none."""
    try:
        return find_program("natxy-gateway", "NATXY_GATEWAY")
    except FileNotFoundError as error:
        raise DutError(f"{error}.") from None


class GatewayProcess(LineProcess):
    """Uses the protocol of docs/reference/gateway.md."""

    def __init__(self, arguments: list[str]) -> None:
        super().__init__([gateway_program(), *arguments], _died)
        self._asking = Lock()  # a reset is asked for by a thread of its own

    def hello(self) -> dict[str, Any]:
        event = self._event("hello")
        if event.get("protocol") != PROTOCOL:
            raise DutError(
                f"natxy-gateway speaks protocol {event.get('protocol')} (expected {PROTOCOL}, "
                f"that of the gateway of this package; {HOW})"
            )
        return event

    def ask(self, request: str, answer: str, **members: Any) -> dict[str, Any]:
        """Sends a request and returns its answer; DutError for another event or none."""
        with self._asking:
            self.send(json.dumps({"request": request, **members}))
            return self._event(answer)

    def _event(self, wanted: str) -> dict[str, Any]:
        line = self.receive(ANSWERS_WITHIN_S)
        if line is None:
            raise DutError(f"natxy-gateway did not answer within {ANSWERS_WITHIN_S:g} s.")
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            shown = line.rstrip("\n").encode()[:SHOWN_BYTES]
            raise DutError(
                f"natxy-gateway sent {shown!r} (expected {wanted}; is NATXY_GATEWAY right?)"
            ) from None
        if event.get("event") == "error":
            raise DutError(f"natxy-gateway: {event.get('message')}")
        if event.get("event") != wanted:
            raise DutError(f"natxy-gateway sent {event.get('event')} (expected {wanted})")
        return event


def _died(gateway: LineProcess) -> DutError:
    lines = gateway.last_lines() or ("nothing",)
    if TOO_LONG in lines:
        return DutError(f"natxy-gateway {OutputTooLong()}.")
    end = "its output closed" if gateway.status is None else f"status {gateway.status}"
    return DutError(f"natxy-gateway ended with {end}; its last line was: {lines[-1]}")
