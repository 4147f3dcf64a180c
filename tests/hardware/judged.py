"""Runs in the guest: prints what a journal's trials have, in a line that is short enough for a slow
serial port. Imports nothing that takes seconds there."""

import gzip
import json
import sys
from collections import Counter


def main() -> None:
    verdicts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    with gzip.open(sys.argv[1], "rt") as journal:
        trials = [each for each in map(json.loads, journal) if each["record"] == "trial"]
    for trial in trials:
        verdicts[trial["verdict"]] += 1
        for stream in [*trial["result"]["streams"], *filter(None, [trial["phase_1"]])]:
            counters = stream["kinds"]["foreground"]
            sums["received"] += counters["received"]
            sums["misdelivered"] += counters["misdelivered"]["total"]
            sums["duplicated"] += counters["duplicated"]
            sums["changed"] += (stream["connections"] or {}).get("changed", 0)
    print(json.dumps({"verdicts": verdicts, **sums}))


if __name__ == "__main__":
    main()
