"""What the report and the page of a running campaign share: their style, and text of others, which
has neither markup nor characters that hide what stands there."""

from html import escape
from importlib.resources import files

from natxy.visible import visible


def style() -> str:
    """Returns the style sheet."""
    return (files("natxy.report") / "style.css").read_text(encoding="utf-8")


def page_text(text: str) -> str:
    """Returns the text; the lines of a file may have any ends."""
    return escape(visible(text.replace("\r\n", "\n")))


def in_script(text: str) -> str:
    """Returns JSON that cannot end the script element that holds it."""
    return text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")
