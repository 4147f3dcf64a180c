"""Plots of delays: their distribution, and their course over time."""

from natxy.report.charts import ZOOM, Chart, Rows, chart, choice, colour, number


def distribution_charts(curves: Rows) -> list[Chart]:
    """Returns a chart of the delays' distribution; rows have `curve`, `delay_us`, `share`."""
    if not curves:
        return []
    return [
        chart(
            "delays",
            "Delays: share of the frames with at most this delay",
            curves,
            params=[ZOOM],
            mark={"type": "line", "interpolate": "step-after", "tooltip": True},
            encoding={
                "x": number("delay_us", "delay, µs", scale={"type": "log", "nice": False}),
                "y": number("share", "share"),
                "color": colour("curve", sort=None),
            },
        )
    ]


def course_charts(slots: Rows) -> list[Chart]:
    """Returns a chart of the delays over the time of a trial: the median of each slot of time as a
    line, all its delays as an area; rows have `trial`, `direction`, `at_s` and delays in µs."""
    if not slots:
        return []
    return [
        chart(
            "delay-over-time",
            "Delays over time: median, minimum and maximum of the frames that left together",
            slots,
            params=[choice("trial", slots)],
            transform=[{"filter": "datum.trial == trial"}],
            encoding={
                "x": number("at_s", "seconds since the start of the trial"),
                "color": colour("direction"),
                "tooltip": [
                    {"field": name}
                    for name in ("direction", "at_s", "median_us", "minimum_us", "maximum_us")
                ],
            },
            layer=[
                {
                    "mark": {"type": "area", "opacity": 0.25},
                    "encoding": {
                        "y": number("minimum_us", "delay, µs", scale={"zero": False}),
                        "y2": {"field": "maximum_us"},
                    },
                },
                {
                    "mark": {"type": "line", "strokeWidth": 1.5},
                    "encoding": {"y": number("median_us", "delay, µs")},
                },
            ],
        )
    ]
