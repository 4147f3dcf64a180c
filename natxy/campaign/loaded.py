"""The results of a measurement or a campaign, as a program or a notebook shows them."""

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from natxy.campaign.data import CampaignData, read_data
from natxy.campaign.report import charts_of, table_of
from natxy.errors import ConfigurationError
from natxy.model.measurement import Measurement
from natxy.report.campaign_html import table_html
from natxy.report.campaign_text import summary_text
from natxy.report.charts import Chart
from natxy.report.results_csv import rows

WIDTH_PX, FONT_PX = 640, 12  # of a plot in a notebook


class Results(Sequence[Measurement]):
    """The measurements of a folder, one for each frame size and mix; a notebook shows them."""

    def __init__(self, data: CampaignData) -> None:
        self._data = data
        self._table = table_of(data)

    @property
    def _measurements(self) -> list[Measurement]:
        return [result for cell in self._data.cells for result in cell.results]

    @overload
    def __getitem__(self, index: int) -> Measurement: ...
    @overload
    def __getitem__(self, index: slice) -> list[Measurement]: ...
    def __getitem__(self, index: int | slice) -> Measurement | list[Measurement]:
        return self._measurements[index]

    def __len__(self) -> int:
        return len(self._measurements)

    @property
    def df(self) -> Any:
        """A pandas.DataFrame with a row for each figure, and the columns of results.csv.

        A campaign's rows also have the column, the measurement and the round of their cell.
        """
        try:
            import pandas
        except ImportError:
            raise _missing("pandas") from None
        return pandas.DataFrame(list(self._rows()))

    def _rows(self) -> Iterator[dict[str, Any]]:
        for cell in self._data.cells:
            place = {"column": cell.column, "measure": cell.measure, "round": cell.round}
            for result in cell.results:
                for row in rows(result):
                    yield {**(place if self._data.files else {}), **row}

    @property
    def plots(self) -> list[str]:
        """The names of the plots; `plot` draws the first one, or the one with a name."""
        return [chart.key for chart in self._charts]

    @property
    def _charts(self) -> list[Chart]:
        charts = charts_of(self._data, self._table)
        return [chart for chart in charts if chart.is_drawn]

    def plot(self, name: str | None = None) -> Any:
        """Returns a plot of the report as an altair chart; ConfigurationError if there is none."""
        try:
            import altair
        except ImportError:
            raise _missing("altair") from None
        return altair.Chart.from_dict(self._picture(name))

    def _picture(self, name: str | None) -> dict[str, Any]:
        from natxy.report.drawing_parts import Look
        from natxy.report.drawings import picture

        charts = {chart.key: chart for chart in self._charts}
        if not charts or name not in (None, *charts):
            known = ", ".join(charts) or "a series, or several repetitions"
            raise ConfigurationError(f"plot: there is no {name or 'plot'} (expected {known})")
        chart = charts[name] if name else next(iter(charts.values()))
        return picture(chart, look=Look(is_alone=True, width_px=WIDTH_PX, font_px=FONT_PX))

    def __repr__(self) -> str:
        return re.sub(r"\n{2,}", "\n", summary_text(self._table)).strip("\n")

    def _repr_html_(self) -> str:
        """Returns the report's table and its first plot, which load nothing from elsewhere."""
        try:
            shown = table_html(self._table)
            import vl_convert
        except ConfigurationError:  # without the extra
            return f"<pre>{html.escape(repr(self))}</pre>"
        return shown + (vl_convert.vegalite_to_svg(self._picture(None)) if self._charts else "")


def load(folder: str | Path) -> Results:
    """Returns the results in the folder of a measurement or a campaign, also of one that runs."""
    return Results(read_data(Path(folder)))


def _missing(package: str) -> ConfigurationError:
    return ConfigurationError(
        f"{package}: is not installed (expected `pip install natxy[notebook]`)"
    )
