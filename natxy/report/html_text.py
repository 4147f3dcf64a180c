"""Text of others in a page: neither markup nor characters that hide what stands there."""

from html import escape

from natxy.visible import visible


def page_text(text: str) -> str:
    """Returns the text; the lines of a file may have any ends."""
    return escape(visible(text.replace("\r\n", "\n")))
