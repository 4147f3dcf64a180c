"""A number as a document prints it: 1,341 or 2^23 or 6.25M or (2,758,621)."""

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(r"\(?(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(M?)\)?")
_POWER = re.compile(r"2\^(\d{1,2})")
_MILLION = 10**6


@dataclass(frozen=True)
class Printed:
    """A printed number, and half of a unit in its last place."""

    value: Decimal
    half_unit: Decimal
    shortened: bool  # to millions, so that the document may mean a number of more digits

    @classmethod
    def read(cls, text: str, scale: int = 1) -> "Printed | None":
        """Returns the number times `scale`, or None if the text is not a number."""
        if power := _POWER.fullmatch(text):
            return cls(Decimal(scale * 2 ** int(power[1])), Decimal(0), shortened=False)
        if not (number := _NUMBER.fullmatch(text)):
            return None
        whole, decimals, suffix = number[1].replace(",", ""), number[2] or "", number[3]
        unit = Decimal(scale * (_MILLION if suffix else 1)).scaleb(-len(decimals))
        return cls(int(whole + decimals) * unit, unit / 2, shortened=bool(suffix))

    def agrees(self, value: float) -> bool:
        """Tells whether `value` is this number or, if it is shortened, rounds to it."""
        away = abs(Decimal(str(value)) - self.value)
        return away <= (self.half_unit if self.shortened else 0)
