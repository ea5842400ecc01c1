#!/usr/bin/python3
"""bench.py: the measurements of the README.

    bench.py --out DIR [--quick] [--part NAME]
    bench.py --out DIR --write-docs ROOT

Runs the parts, each in a module of its own, prints their tables and writes
DIR/bench.json (with --part: DIR/bench-NAME.json; part "capture" also runs "cold"
and "throw", so that one run measures all costs of captures). Draws the chart of
captures, DIR/bench-capture.svg. The document:

    {"schema": 1, "machine": {"cpu", "cores", "kernel", "compiler", "load"},
     "date": …, "quick": …,
     "capture": [rows], "cold": [rows], "throw": [rows], "barriers": [rows],
     "hooks": [rows], "programs": [rows], "lives": [rows],
     "instructions": [rows], "options": [rows], "reader": [rows],
     "reader-large": [rows], "exports": [rows], "queries": [rows],
     "ui": [rows], "peers": [rows],
     "figures": [{"name", "value", "goal", "reached",
                  "where": of what, if it is the worst of several}]}

A part that was not run is an empty list. A part has three functions:
measure(bench) gives its rows, show(rows) prints them, figures(rows) compares
them with the goals. Exit status: 0 measured (whether or not the goals are
reached), 1 some part could not be measured.

With --write-docs nothing is measured: DIR/bench-peers.json is written into the
documents of the source tree ROOT, as tables and charts (bench/bench_docs.py).
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys

import bench_barriers
import bench_capture
import bench_cold
import bench_docs
import bench_exports
import bench_hooks
import bench_instructions
import bench_lives
import bench_options
import bench_peers
import bench_plot
import bench_programs
import bench_queries
import bench_reader
import bench_reader_large
import bench_run
import bench_table
import bench_throw
import bench_ui

SCHEMA = 1
BUSY_LOAD = 0.7
PARTS = {
    "capture": bench_capture,
    "cold": bench_cold,
    "throw": bench_throw,
    "barriers": bench_barriers,
    "hooks": bench_hooks,
    "programs": bench_programs,
    "lives": bench_lives,
    "instructions": bench_instructions,
    "options": bench_options,
    "reader": bench_reader,
    "reader-large": bench_reader_large,
    "exports": bench_exports,
    "queries": bench_queries,
    "ui": bench_ui,
    "peers": bench_peers,
}
# Takes minutes and gigabytes, or needs a browser or other profilers: only by --part.
ASKED = ("reader-large", "exports", "queries", "ui", "peers")
BRINGS = {"capture": ["capture", "cold", "throw"]}


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        for line in stream:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def machine():
    compiler = subprocess.run(["gcc", "--version"], capture_output=True,
                              text=True, check=False).stdout
    return {"cpu": cpu_name(), "cores": os.cpu_count(),
            "kernel": platform.release(),
            "compiler": compiler.partition("\n")[0],
            "load": round(os.getloadavg()[0], 2)}


def show_machine(facts):
    print("machine: {cpu}, {cores} cores, Linux {kernel}, {compiler}".format(
        **facts))
    if facts["load"] > BUSY_LOAD:
        print(f"The machine is busy (load {facts['load']}): times will be "
              "too long, and ratios of times uncertain.")


def measure(bench, parts, document):
    """Fills the document; the names of parts that failed."""
    failed = []
    for name in parts:
        part = PARTS[name]
        try:
            rows = part.measure(bench)
        except (bench_run.Failed, OSError, ValueError, KeyError,
                subprocess.SubprocessError) as error:
            bench_run.note("")
            print(f"bench: {name}: {error!r}", file=sys.stderr)
            failed.append(name)
            continue
        bench_run.note("")
        document[name] = rows
        part.show(rows)
        document["figures"] += part.figures(rows)
        sys.stdout.flush()
    return failed


def show_figures(figures):
    bench_table.show("figures", ["figure", "value", "goal", "reached"], [
        [f"{figure['name']} ({figure['where']})" if "where" in figure
         else figure["name"], bench_table.text(figure["value"], 3),
         figure["goal"], "yes" if figure["reached"] else "NO"]
        for figure in figures])


def arguments():
    parser = argparse.ArgumentParser(description="the measurements")
    parser.add_argument("--out", default="build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--write-docs", metavar="ROOT")
    return parser.parse_args()


def write_docs(out, root):
    try:
        paths = bench_docs.write(out, root)
    except (bench_docs.Refused, OSError, ValueError, KeyError) as error:
        print(f"bench: documents: {error}", file=sys.stderr)
        return 1
    for path in paths:
        print(f"written: {os.path.join(root, path)}")
    return 0


def main():
    options = arguments()
    if options.write_docs:
        return write_docs(options.out, options.write_docs)
    parts = (BRINGS.get(options.part, [options.part]) if options.part
             else [part for part in PARTS if part not in ASKED])
    document = {"schema": SCHEMA, "machine": machine(),
                "date": datetime.datetime.now(datetime.timezone.utc)
                .isoformat(timespec="seconds"),
                "quick": options.quick, **{name: [] for name in PARTS},
                "figures": []}
    show_machine(document["machine"])
    bench = bench_run.Bench(options.out, options.quick)
    try:
        failed = measure(bench, parts, document)
    finally:
        bench.close()
    if document["figures"]:
        show_figures(document["figures"])
    name = f"bench-{options.part}.json" if options.part else "bench.json"
    path = os.path.join(options.out, name)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(document, stream, indent=1)
        stream.write("\n")
    print(f"\nwritten: {path}")
    if document["capture"]:
        path = os.path.join(options.out, "bench-capture.svg")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(bench_plot.captures(document))
        print(f"written: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
