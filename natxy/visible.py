"""Text of others as it is shown: what nobody sees, or a terminal would obey, is escaped."""

import functools
import unicodedata

# Controls, formats (such as U+202E, which turns the order of letters), surrogates, line separators.
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
KEPT = "\n\t"


def visible(text: str) -> str:
    r"""Returns the text with \u001b in place of ESC, also for all else that is not seen.

    It is JSON's notation, so that JSON stays what it is.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_seen, text))


@functools.lru_cache(maxsize=4096)
def _seen(character: str) -> str:
    if character in KEPT or unicodedata.category(character) not in UNSEEN:
        return character
    return escaped(character)


def escaped(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def one_line(words: str) -> str:
    """Returns a text without line breaks; what no printer shows is written as its code: \\x1b."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in " ".join(words.split())
    )
