"""Reasons for INVALID, with facts for their sentences."""

from string import Formatter

from natxy.model.reason import Code, Reason


def a_reason(code: Code, where: str = "forward", **facts: float) -> Reason:
    """Returns a reason whose facts are 1, but for those that are given."""
    names = {name for _, name, _, _ in Formatter().parse(code.value) if name} - {"where"}
    return Reason.of(code, where, **(dict.fromkeys(names, 1.0) | facts))


LATE = a_reason(Code.LEFT_LATE)
