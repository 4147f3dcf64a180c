"""What the report and the page of a running campaign share: their style, and text of others, which
has neither markup nor characters that hide what stands there.

The script of the page of a running campaign shows what the server tells it of each trial.
"""

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from natxy.visible import visible

EVENTS = "/events"  # where the server tells what has changed
LIVE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:"
)


def style() -> str:
    """Returns the style sheet."""
    return (files("natxy.report") / "style.css").read_text(encoding="utf-8")


def page_text(text: str) -> str:
    """Returns the text; the lines of a file may have any ends."""
    return escape(visible(text.replace("\r\n", "\n")))


def in_script(text: str) -> str:
    """Returns JSON that cannot end the script element that holds it."""
    return text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")


def live_page(known: Mapping[str, Any]) -> str:
    """Returns the page; `known` is what it shows first, as `live` of natxy/cli/serve.py has it."""
    page = Template((files("natxy.report") / "live.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=page_text(known["title"]),
        style=style(),
        known=in_script(json.dumps(known)),
        events=EVENTS,
    )
