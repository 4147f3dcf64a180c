"""Plots of trials: what a search tried, what disturbed it, and the delays of the frames."""

from natxy.report.charts import Chart, Rows


def trace_chart(trials: Rows) -> Chart:
    """Returns what each trial tried, and its verdict."""
    title = "Searches: what each trial tried, and its verdict"
    return Chart(key="trials", title=title, kind="trace", rows=trials)


def pauses_chart(trials: Rows) -> Chart:
    """Returns how long the tester paused and the gateway was away in each trial."""
    rows = [
        {"at_s": row["at_s"], "cell": row["cell"], "who": who, "ms": row[field]}
        for row in trials
        for who, field in (("tester paused", "paused_ms"), ("gateway away", "away_ms"))
        if row[field]
    ]
    title = "Noise: pauses of the tester and absences of the gateway in each trial"
    return Chart(key="pauses", title=title, kind="pauses", rows=rows)


def distribution_charts(curves: Rows) -> list[Chart]:
    """Returns the percentiles of the delays; rows have `panel`, `curve`, `delay_us`, `share`."""
    if not curves:
        return []
    # The last of all frames has no place on an axis on which the nines are equally far apart.
    rows = [
        {**row, "frames_per_later": round(1 / (1 - row["share"]), 4) if row["share"] < 1 else None}
        for row in curves
    ]
    title = "Delays: at most this long for a share of the frames"
    return [Chart(key="delays", title=title, kind="percentiles", rows=rows)]


def course_charts(slots: Rows) -> list[Chart]:
    """Returns a chart of the delays over the time of a trial; rows have `trial`, `direction`,
    `at_s` and delays in µs."""
    if not slots:
        return []
    title = "Delays over time: median, minimum and maximum of the frames that left together"
    return [Chart(key="delay-over-time", title=title, kind="course", rows=slots)]
