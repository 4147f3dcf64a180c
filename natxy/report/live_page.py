"""The page of a running campaign, whose script shows what the server tells it of each trial."""

import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

from natxy.report.html_text import in_script, page_text, style

EVENTS = "/events"  # where the server tells what has changed
LIVE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:"
)


def live_page(known: Mapping[str, Any]) -> str:
    """Returns the page; `known` is what it shows first, as `live` of natxy/cli/serve.py has it."""
    page = Template((files("natxy.report") / "live.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=page_text(known["title"]),
        style=style(),
        known=in_script(json.dumps(known)),
        events=EVENTS,
    )
