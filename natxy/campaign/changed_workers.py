"""Sentences about testbed processes (workers of Dask) that leave, or come, in a campaign."""

from collections.abc import Iterator, Mapping


def worker_changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yields a sentence for each change; both have addresses by name: the number of the testbed.

    A process that was started again in place of a dead one has another address.
    """
    for name in sorted(before.keys() - now.keys()):
        yield (
            f"The process of testbed {name} has left ({before[name]}); its cell is measured again "
            "by the next free testbed process."
        )
    for name in sorted(before.keys() & now.keys()):
        if before[name] != now[name]:
            yield (
                f"The process of testbed {name} has left ({before[name]}), and a new one has come; "
                "the cell of the first one is measured again."
            )
    for name in sorted(now.keys() - before.keys()):
        yield f"A process of testbed {name} has come ({now[name]})."
    if before and not now:
        yield "There is no testbed process left; the campaign goes on when one comes."
