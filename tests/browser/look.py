"""Says what is wrong with existing reports: `python -m tests.browser.look DIR/report/report.html`.

It does what the test of the experiments does with each report, and writes the same pictures beside
it. The status is 1 if anything is wrong.
"""

import sys
from pathlib import Path

from tests.browser.pages import chromium, report_faults


def main(pages: list[str]) -> int:
    wrong: list[str] = []
    with chromium() as browser:
        for page in map(Path, pages):
            path = page.resolve()
            found = report_faults(browser, path, path.parent)
            wrong += [f"{page}: {fault}" for fault in found]
    print("\n".join(wrong) or "Nothing is wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
