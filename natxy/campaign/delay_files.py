"""The distributions of delays as files: one for each column, measurement, series and direction."""

from collections.abc import Sequence
from pathlib import Path

from natxy.campaign.delay_curves import DelayCurve
from natxy.report.charts import apart, file_name
from natxy.report.percentile_text import percentile_text
from natxy.whole_file import write_whole

BEGIN, ENDING = "delays", "hgrm"


def write_delays(curves: Sequence[DelayCurve], folder: Path, *said: str) -> list[Path]:
    """Writes the files, and returns them."""
    names = [file_name(" ".join((BEGIN, *_parts(curve)))) for curve in curves]
    files = {folder / f"{name}.{ENDING}": of for name, of in zip(apart(names), curves, strict=True)}
    for path, curve in files.items():
        write_whole(path, percentile_text(curve.buckets, ", ".join(_parts(curve)), *said))
    return list(files)


def _parts(curve: DelayCurve) -> list[str]:
    parts = (curve.measure, curve.column, curve.series, curve.direction)
    return [part for part in parts if part]
