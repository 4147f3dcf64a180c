"""The remarks of a result, by what they are about."""

from collections.abc import Iterable

from natxy.model.remark import Remark, Topic


def topics(remarks: Iterable[Remark]) -> list[Topic]:
    """Returns what the remarks are about; each must have all facts of its sentence."""
    return [remark.code for remark in remarks if str(remark)]


def about(topic: Topic, remarks: Iterable[Remark]) -> Remark:
    """Returns the only remark with this topic; it must have all facts of its sentence."""
    (found,) = (remark for remark in remarks if remark.code is topic)
    assert str(found)
    return found
