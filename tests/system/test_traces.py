"""Stored traces of all earlier versions of the format (tests/traces): the
current reader gives the results of their own readers, and the program's own
counts. tests/tools/record-traces makes the traces of a new version.
"""

import json
import os
import re
import struct

from gnomon_test import Report, bare, case, check, equal, gnomon, info, main
from gnomon_test import GNOMON

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
KEPT = os.path.join(ROOT, "tests", "traces")
PROGRAM = "golden"


def current():
    """(major, minor) of what is written now."""
    with open(os.path.join(ROOT, "cli", "trace", "format", "trace_format.h"),
              encoding="utf-8") as header:
        found = dict(re.findall(r"^#define GT_(MAJOR|MINOR) (\d+)$",
                                header.read(), re.M))
    return int(found["MAJOR"]), int(found["MINOR"])


def version(path):
    with open(path, "rb") as trace:
        return struct.unpack_from("<HH", trace.read(32), 8)


def kept():
    """(version, its directory) in order."""
    return sorted((tuple(map(int, name.split("."))),
                   os.path.join(KEPT, name)) for name in os.listdir(KEPT))


def figures(directory):
    """{trace: {source: {key: value}}}"""
    result = {}
    with open(os.path.join(directory, "figures"), encoding="utf-8") as lines:
        for line in lines:
            trace, source, key, value = line.split()
            result.setdefault(os.path.join(directory, trace), {}).setdefault(
                source, {})[key] = int(value)
    return result


def program_sums(report):
    """What the program's own calls allocated: the innermost frame of rows is
    its, not the C library's or the loader's."""
    rows = [row for row in report.rows
            if row["stack"] and row["stack"][0]["library"] == PROGRAM]
    sums = {"allocations": sum(row["count"] for row in rows)}
    for key in ("total_bytes", "live_blocks", "live_bytes"):
        sums[key] = sum(row[key] for row in rows)
    sums["frees"] = sums["allocations"] - sums["live_blocks"]
    return sums


def agree(trace, wanted):
    name = os.path.relpath(trace, KEPT)
    report = Report(trace)
    for key, value in wanted.get("report", {}).items():
        equal(int(report.summary[key]), value, "%s: %s" % (name, key))
    about = info(trace)
    for key, value in wanted["info"].items():
        equal(about[key], value, "%s: info: %s" % (name, key))
    if "program" in wanted:
        equal(program_sums(report), wanted["program"], name)
    equal(sum(row["count"] for row in report.rows) +
          report.summary["unrecorded_allocations"],
          report.summary["allocations"], name + ": sum of allocations")
    equal(sum(row["live_bytes"] for row in report.rows),
          report.summary["live_bytes"], name + ": sum of live bytes")


@case
def traces_of_all_versions(_):
    versions = [each for each, _ in kept()]
    major, minor = current()
    for each in range(minor + 1):
        check((major, each) in versions,
              "there are no traces of version %d.%d in tests/traces: "
              "tests/tools/record-traces makes them" % (major, each))
    older = [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3)]
    equal(versions[:len(older)], older, "the older ones")
    for wanted, directory in kept():
        check(figures(directory), "%s has no figures" % directory)
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if name.endswith(".trace"):
                equal(version(path), wanted, path)
                check(os.path.getsize(path) <= 50000, path + " is large")
                check(path in figures(directory), path + " has no figures")


def read_all(wanted_version):
    def case_of_version(_):
        (directory,) = [directory for each, directory in kept()
                        if each == wanted_version]
        for trace, wanted in figures(directory).items():
            agree(trace, wanted)
    case_of_version.__name__ = "reports_of_%d_%d" % wanted_version
    return case_of_version


for _version, _directory in kept():
    case(read_all(_version))


@case
def other_commands(directory):
    """Of two traces of each version: check, export, and a report of what
    repack makes of it."""
    for _, place in kept():
        for name in ("threads.trace", "killed.trace"):
            trace = os.path.join(place, name)
            report = Report(trace)
            gnomon("check", "--max-live", "1G", trace)
            done = bare([GNOMON, "check", "--max-total", "1k", trace])
            equal(done.status, 1, trace + ": check")
            done = gnomon("export", "--format", "json", trace)
            equal(sum(context["count"] for context in
                      json.loads(done.out)["contexts"]),
                  report.summary["allocations"], trace + ": export")
            again = os.path.join(directory, "again.trace")
            gnomon("repack", trace, "-f", "-o", again, "--embed", "none")
            equal(Report(again).rows, report.rows, trace + ": repacked")


main()
