"""A duration as a person reads it."""


def duration(nanoseconds: float) -> str:
    """Returns a duration with three digits and its unit: 850 ns, 12.3 µs, 4.56 ms, 7.89 s."""
    for limit, divisor, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if nanoseconds < limit * 0.9995:
            return f"{_three_digits(nanoseconds / divisor)} {unit}"
    return f"{_three_digits(nanoseconds / 1e9)} s"


def _three_digits(value: float) -> str:
    if value == int(value) and value < 1000:
        return str(int(value))
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"
