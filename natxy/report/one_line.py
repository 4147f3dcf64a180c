"""Text of other people, such as labels and messages, for one line of a file."""


def one_line(words: str) -> str:
    """Returns a text without line breaks; what no printer shows is written as its code: \\x1b."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in " ".join(words.split())
    )
