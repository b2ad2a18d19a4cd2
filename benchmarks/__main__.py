"""`python -m benchmarks [NAME ...]`: run benchmarks, print their tables, keep the figures in `.bench/`."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks.bench import NAMES, Options, Report, find

RESULTS = Path(".bench")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="measure little: only shows that it runs")
    parser.add_argument("--full", action="store_true", help="also measure what takes minutes")
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of tables")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    options = Options(quick=arguments.quick, full=arguments.full)
    console = Console(highlight=False, stderr=arguments.json)
    results: dict[str, Any] = {"machine": _machine(), "quick": options.quick}
    for name in arguments.names or NAMES:
        bench = find(name)
        console.print(f"[bold]{bench.name}[/bold]: {bench.summary}")
        reports = bench.run(options)
        results[name] = {report.title: report.data for report in reports}
        for report in reports:
            _print(console, report)
    encoded = orjson.dumps(results, option=orjson.OPT_INDENT_2)
    RESULTS.mkdir(exist_ok=True)
    when = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    path = RESULTS / f"{when}.json"
    path.write_bytes(encoded)
    if arguments.json:
        sys.stdout.write(encoded.decode() + "\n")
    console.print(f"kept in {path}")


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
    }


def _print(console: Console, report: Report) -> None:
    table = Table(title=report.title, title_justify="left")
    for number, column in enumerate(report.columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in report.rows:
        table.add_row(*row)
    console.print(table)
    for note in report.notes:
        console.print(f"  {note}")
    console.print()


if __name__ == "__main__":
    main()
