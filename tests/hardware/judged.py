"""Runs in the guest: prints what a journal's trials have, in a line that is short enough for a slow
serial port. Imports nothing that takes seconds there."""

import gzip
import json
import sys
from collections import Counter


def main() -> None:
    verdicts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    by_queue: dict[str, list[int]] = {}
    with gzip.open(sys.argv[1], "rt") as journal:
        trials = [each for each in map(json.loads, journal) if each["record"] == "trial"]
    for trial in trials:
        verdicts[trial["verdict"]] += 1
        for port in trial["result"]["ports"]:
            counts = port["queue_received"]
            before = by_queue.get(port["side"], [0] * len(counts))
            by_queue[port["side"]] = [sum(pair) for pair in zip(before, counts, strict=True)]
        for stream in [*trial["result"]["streams"], *filter(None, [trial["phase_1"]])]:
            counters = stream["kinds"]["foreground"]
            sums["received"] += counters["received"]
            sums["misdelivered"] += counters["misdelivered"]["total"]
            sums["duplicated"] += counters["duplicated"]
            sums["changed"] += (stream["connections"] or {}).get("changed", 0)
    print(json.dumps({"verdicts": verdicts, "by_queue": by_queue, **sums}))


if __name__ == "__main__":
    main()
