"""The page of a running campaign, which a browser loads again and again."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from natxy.report.html_text import page_text

REFRESH_S = 5
PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="$refresh">
<title>$title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td { border-bottom: 1px solid #8884; padding: .2rem .5rem; vertical-align: top; }
progress { width: 100%; }
.running { font-weight: 600; }
.failed { color: #c33; }
</style></head>
<body><h1>$title</h1>
<progress value="$ended" max="$count"></progress>
<p>$ended of $count cells ended, $failed failed$left. $report</p>
<table>$rows</table>
</body></html>
""")


@dataclass(frozen=True, kw_only=True)
class LiveCell:
    name: str
    said: str  # what it found, or how far it is
    state: str  # "", "running" or "failed"
    ended: bool


def live_page(title: str, cells: Sequence[LiveCell], *, has_report: bool, left: str = "") -> str:
    rows = "".join(
        f'<tr class="{cell.state}"><td>{number}</td><td>{page_text(cell.name)}</td>'
        f"<td>{page_text(cell.said)}</td></tr>"
        for number, cell in enumerate(cells, start=1)
    )
    return PAGE.substitute(
        refresh=REFRESH_S,
        title=page_text(title),
        ended=sum(cell.ended for cell in cells),
        count=len(cells),
        left=left,
        failed=sum(cell.state == "failed" for cell in cells),
        report='<a href="report.html">The report so far</a>' if has_report else "",
        rows=rows,
    )
