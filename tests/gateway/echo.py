"""Runs in a namespace: `echo.py serve ADDRESS PORT` sends datagrams back to where they came from;
`echo.py ask ADDRESS PORT COUNT` sends COUNT of them, one after the other, and prints as JSON the
numbers that came back, in order."""

import json
import socket
import sys

PATIENCE_S = 0.3


def opened(address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def serve(address: str, port: int) -> None:
    with opened(address) as server:
        server.bind((address, port))
        print("ready", flush=True)
        while True:
            data, sender = server.recvfrom(2048)
            server.sendto(data, sender)


def ask(address: str, port: int, count: int) -> None:
    answers = []
    with opened(address) as client:
        client.settimeout(PATIENCE_S)
        client.connect((address, port))
        for number in range(count):
            client.send(number.to_bytes(4, "big"))
            try:
                answers.append(int.from_bytes(client.recv(2048), "big"))
            except TimeoutError:
                continue
    print(json.dumps(answers))


if __name__ == "__main__":
    verb, where, *numbers = sys.argv[1:]
    if verb == "serve":
        serve(where, int(numbers[0]))
    else:
        ask(where, int(numbers[0]), int(numbers[1]))
