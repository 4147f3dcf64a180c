"""Dask's scheduler and worker without their HTTP servers.

Dask has no option that switches them off: without its dashboard, a node still answers plain HTTP
to every user of the machine. This module needs the extra `distributed`.
"""

from typing import Any

import distributed


class Scheduler(distributed.Scheduler):  # type: ignore[misc]  # mypy skips the extra
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Starts nothing."""


class Worker(distributed.Worker):  # type: ignore[misc]
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Starts nothing."""
