"""Plots of trials: what a search tried, what disturbed it, and the delays of the frames."""

from natxy.report.charts import Chart, Rows

NOISE = "away, ms"
OVER_TIME = {  # the quantity and the name of a field of trials
    "rate_fps": ("rate per direction", "rate"),
    "median_us": ("delay, µs", "median delay"),
    "p999_us": ("delay, µs", "99.9 % of the delays"),
    "busy_percent": ("CPU, %", "busiest CPU of the gateway"),
    "paused_ms": (NOISE, "tester paused"),
    "away_ms": (NOISE, "gateway away"),
}


def trace_chart(trials: Rows) -> Chart:
    """Returns what each trial tried, and its verdict."""
    title = "Trials: what each one tried, and its verdict"
    return Chart(key="trials", title=title, kind="trace", rows=trials, words={"choice": "cell"})


def time_chart(trials: Rows) -> Chart:
    """Returns the rate and the delays of each trial, the gateway's busiest CPU, and how long the
    tester paused and the gateway was away, over the time of the campaign."""
    rows = [
        {
            **{name: row[name] for name in ("at_s", "cell", "verdict")},
            "quantity": quantity,
            "what": what,
            "value": row[field],
        }
        for row in trials
        for field, (quantity, what) in OVER_TIME.items()
        if row[field] is not None and (row[field] or quantity != NOISE)
    ]
    title = "Over time: rate, delay, CPU and pauses of each trial"
    return Chart(key="over-time", title=title, kind="time", rows=rows)


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
    words = {"choice": "trial"}
    return [Chart(key="delay-over-time", title=title, kind="course", rows=slots, words=words)]
