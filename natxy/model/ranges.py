"""The ranges whose combinations are the connections of a trial."""

from dataclasses import dataclass
from math import prod

from natxy.model.traffic_spec import Series


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """The ranges of ports and address fields whose combinations are the connections of a trial."""

    source_port: Series
    destination_port: Series
    source_field: Series
    destination_field: Series

    @property
    def combinations(self) -> int:
        return prod(series.values for series in vars(self).values())

    def __str__(self) -> str:
        return " x ".join(f"{values:,}" for values in self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Counts of source ports, destination ports, and of each side's addresses if they vary."""
        ports = self.source_port.values, self.destination_port.values
        fields = self.source_field.values, self.destination_field.values
        return (*ports, *(values for values in fields if values > 1))

    def swapped(self) -> "Ranges":
        """Returns the ranges of the responder's frames: source and destination swapped."""
        return Ranges(
            source_port=self.destination_port,
            destination_port=self.source_port,
            source_field=self.destination_field,
            destination_field=self.source_field,
        )


def as_range(series: Series) -> Series:
    """Returns the series as a plain range: the enumeration decides the order of its values."""
    return series if series.mode == "fixed" else series.model_copy(update={"mode": "increasing"})
