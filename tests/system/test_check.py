#!/usr/bin/python3
"""`gnomon check`: limits, a baseline, several traces, JSON and JUnit."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from gnomon_test import (GNOMON, Report, bare, case, check, equal, gnomon,
                         main, need, need_file, program, recorded)

# What the readers of JUnit files agree on, as strict as the strictest: every
# element and attribute that one of them asks for, and no other.
SCHEMA = """<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
 <xs:complexType name="bad"><xs:simpleContent><xs:extension base="xs:string">
  <xs:attribute name="message" type="xs:string"/>
  <xs:attribute name="type" type="xs:string" use="required"/>
 </xs:extension></xs:simpleContent></xs:complexType>
 <xs:element name="testsuites"><xs:complexType><xs:sequence>
  <xs:element name="testsuite" minOccurs="0" maxOccurs="unbounded">
   <xs:complexType><xs:sequence>
    <xs:element name="properties"><xs:complexType/></xs:element>
    <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded">
     <xs:complexType><xs:choice minOccurs="0">
      <xs:element name="error" type="bad"/>
      <xs:element name="failure" type="bad"/>
     </xs:choice>
     <xs:attribute name="name" type="xs:token" use="required"/>
     <xs:attribute name="classname" type="xs:token" use="required"/>
     <xs:attribute name="time" type="xs:decimal" use="required"/>
     </xs:complexType>
    </xs:element>
    <xs:element name="system-out"/><xs:element name="system-err"/>
   </xs:sequence>
   <xs:attribute name="package" type="xs:token" use="required"/>
   <xs:attribute name="id" type="xs:int" use="required"/>
   <xs:attribute name="name" type="xs:token" use="required"/>
   <xs:attribute name="timestamp" use="required"><xs:simpleType>
    <xs:restriction base="xs:dateTime">
     <xs:pattern value="\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d"/>
    </xs:restriction></xs:simpleType></xs:attribute>
   <xs:attribute name="hostname" use="required"><xs:simpleType>
    <xs:restriction base="xs:token"><xs:minLength value="1"/>
    </xs:restriction></xs:simpleType></xs:attribute>
   <xs:attribute name="tests" type="xs:int" use="required"/>
   <xs:attribute name="failures" type="xs:int" use="required"/>
   <xs:attribute name="errors" type="xs:int" use="required"/>
   <xs:attribute name="time" type="xs:decimal" use="required"/>
   </xs:complexType>
  </xs:element>
 </xs:sequence></xs:complexType></xs:element>
</xs:schema>
"""


def rows_of(*arguments, statuses=(0, 1)):
    done = gnomon("check", "--json", *arguments, statuses=statuses)
    return {row["name"]: row for row in json.loads(done.out)["rows"]}


def leaky(directory, *arguments):
    os.makedirs(directory, exist_ok=True)
    return recorded([program("leaky"), *arguments], directory).trace


def need_names_of_libc():
    """Of its own functions, in a file that a package brings (libc6-dbg)."""
    libc = bare(["ldd", program("name_service")]).out
    notes = bare(["readelf", "-n", re.search(
        r"libc\.so\.6 => (\S+)", libc).group(1)]).out
    number = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    need_file("/usr/lib/debug/.build-id/%s/%s.debug" % (
        number[:2], number[2:]))


@case
def global_state_of_the_c_library_is_suppressed(directory):
    need_names_of_libc()
    trace = recorded([program("name_service")], directory).trace
    own = json.loads(gnomon("report", trace, "--json", "--by", "stack",
                            "--fate", "live").out)["rows"]
    check(any(frame["function"] == "global_state_allocate"
              for row in own for frame in row["stack"]), "no such name")
    gnomon("check", trace, "--max-live", "0")
    gnomon("check", trace, "--max-live", "0",
           "--disable-builtin-suppressions", statuses=(1,))


@case
def limits_are_exact(directory):
    trace = leaky(directory)
    summary = Report(trace).summary
    for option, key in (("--max-live", "live_bytes"),
                        ("--max-peak", "peak_bytes"),
                        ("--max-total", "total_bytes"),
                        ("--max-count", "allocations"),
                        ("--max-temporary", "temporary")):
        value = summary[key]
        check(value > 0, key)
        for limit, status in ((value, 0), (value - 1, 1)):
            done = gnomon("check", trace, option, str(limit),
                          "--disable-builtin-suppressions",
                          statuses=(status,))
            line = [line.split() for line in done.out.splitlines()
                    if line.startswith("  " + option[2:])]
            check("pass" in line[0] if status == 0 else "fail" in line[0],
                  done.out)
        row = rows_of(trace, option, "1000", "--disable-builtin-suppressions")
        equal(row[option[2:]]["value"], value, key)


@case
def empty_blocks(directory):
    traces = []
    for name, arguments in (("few", []), ("more", ["1"])):
        path = os.path.join(directory, name)
        os.mkdir(path)
        traces.append(recorded([program("no_bytes"), *arguments], path).trace)
    few, more = traces
    for limit, status, verdict in (("0", 1, "fail"), ("1", 0, "pass")):
        done = gnomon("check", few, "--max-live", limit, statuses=(status,))
        line = done.out.splitlines()[1]
        check(verdict in line.split() and "in 3 blocks" in line, line)
    done = gnomon("check", few, "--max-live", "0", statuses=(1,))
    check("3 blocks of size 0\n" in done.out and "tgt_malloc" in done.out,
          done.out)
    row = rows_of(few, "--max-live", "0")["max-live"]
    equal((row["value"], row["blocks"], row["pass"]), (0, 3, False), "json")
    equal(rows_of(few, "--baseline", few)["growth-live"]["pass"], True, "same")
    equal(rows_of(more, "--baseline", few)["growth-live"]["pass"], False,
          "one more")
    equal(rows_of(few, "--baseline", more)["growth-live"]["pass"], True,
          "one less")
    junit = os.path.join(directory, "junit.xml")
    gnomon("check", few, "--max-live", "0", "--junit", junit, statuses=(1,))
    with open(junit) as file:
        check("max-live is 0 in 3 blocks" in file.read(), "junit")
    rules = os.path.join(directory, "rules")
    with open(rules, "w") as file:
        file.write("leak:tgt_malloc\n")
    gnomon("check", few, "--max-live", "0", "--suppressions", rules)


@case
def into_a_file(directory):
    trace = leaky(directory)
    path = os.path.join(directory, "verdicts")
    for more in ((), ("--json",)):
        asked = ("check", trace, "--max-live", "0", *more)
        done = gnomon(*asked, "-o", path, statuses=(1,))
        equal(done.out, "", "nothing else")
        with open(path) as file:
            equal(file.read(), gnomon(*asked, statuses=(1,)).out, more)
    with open(trace, "rb") as file:
        before = file.read()
    gnomon("check", trace, "--max-live", "0", "-o", trace, statuses=(2,))
    with open(trace, "rb") as file:
        equal(file.read(), before, "the trace is as it was")


@case
def stacks_behind_a_failure(directory):
    trace = leaky(directory)
    text = gnomon("check", trace, "--max-live", "0", statuses=(1,)).out
    shown = re.findall(r"^    ([\d.]+[KMGB ]*)\n      (tgt_\w+)", text, re.M)
    equal(shown[0], ("1000 B", "tgt_recurse"), "the largest first")
    for line in text.splitlines()[1:]:
        check(len(line) <= 80, line)
    check("tgt_" not in gnomon("check", trace, "--max-live", "1M").out,
          "stacks of a rule that is kept")


@case
def stacks_from_the_inside(directory):
    """What a rule of suppression may name can be read off the stacks."""
    trace = recorded([program("copied")], directory).trace
    junit = os.path.join(directory, "junit.xml")
    limits = ("--max-live", "0", "--max-count", "0")
    text = gnomon("check", trace, *limits, "--junit", junit,
                  statuses=(1,)).out
    for cost in ("11 B", "1 allocation"):
        check(re.search(r"\n    %s\n(?: +.*\n)? +\w*strdup .*\n +main " % cost,
                        text), "%s: %s" % (cost, text))
    with open(junit) as file:
        check("1 allocation\n" in file.read(), "plural in JUnit's form")
    rules = os.path.join(directory, "rules")
    with open(rules, "w") as file:
        file.write("leak:strdup\n")
    gnomon("check", trace, "--max-live", "0", "--suppressions", rules)


@case
def growth(directory):
    old = leaky(os.path.join(directory, "a"))
    new = leaky(os.path.join(directory, "b"), "3")  # 48 bytes more
    rows = rows_of(new, "--baseline", old)
    for cost, more in (("live", 48), ("total", 48), ("count", 3)):
        row = rows["growth-" + cost]
        equal(row["value"] - row["baseline"], more, cost)
        check(not row["pass"], cost)
    check(rows["growth-temporary"]["pass"], "temporary")
    # 1532 bytes: 48 more are 3.13 %
    check(not rows_of(new, "--baseline", old, "--max-growth", "3%")
          ["growth-live"]["pass"], "3 %")
    rows = rows_of(new, "--baseline", old, "--max-growth", "4%")
    check(rows["growth-live"]["pass"] and rows["growth-peak"]["pass"], "4 %")
    check(not rows["growth-count"]["pass"], "3 of 26 are more than 4 %")
    gnomon("check", new, "--baseline", old, "--max-growth", "20%")
    gnomon("check", old, "--baseline", old)
    gnomon("check", old, "--baseline", new)
    text = gnomon("check", new, "--baseline", old, statuses=(1,)).out
    check(re.search(r"growth-live: .*\n\n    \+48 B\n      tgt_list", text),
          text)
    check("was 1.5K (+3.1%)" in text, text)


@case
def several_traces(directory):
    shutil.move(leaky(os.path.join(directory, "a")), directory)
    second = shutil.move(leaky(os.path.join(directory, "b"), "100"), directory)
    done = gnomon("check", directory, "--max-live", "2k", "--json",
                  statuses=(1,))
    document = json.loads(done.out)
    equal(sorted(row["pass"] for row in document["rows"]), [False, True],
          "one of two")
    equal([row["trace"] for row in document["rows"] if not row["pass"]],
          [second], "which")
    equal(document["summary"]["failed"], 1, "failed")
    gnomon("check", directory, "--max-live", "1M")
    with open(os.path.join(directory, "torn.trace"), "wb") as out:
        out.write(b"no trace")
    gnomon("check", second, os.path.join(directory, "torn.trace"),
           "--max-live", "1M", statuses=(2,))


@case
def junit(directory):
    need("xmllint")
    leaky(directory)
    os.mkdir(os.path.join(directory, "odd"))
    odd = os.path.join(directory, "odd", 'a<b>"&\x01\udcff\u20ac.trace')
    shutil.copy(leaky(os.path.join(directory, "b"), "100"), odd)
    schema = os.path.join(directory, "schema.xsd")
    with open(schema, "w") as out:
        out.write(SCHEMA)
    path = os.path.join(directory, "out.xml")
    gnomon("check", os.path.join(directory, "b"), odd,
           os.path.join(directory, "none.trace"), "--max-live", "0",
           "--max-peak", "1G", "--junit", path, statuses=(2,))
    done = bare(["xmllint", "--noout", "--schema", schema, path])
    equal((done.status, done.err.strip()), (0, path + " validates"),
          "xmllint")
    suites = ElementTree.parse(path).getroot()
    equal([suite.get("failures") for suite in suites], ["1", "1", "0"],
          "failures")
    equal([suite.get("errors") for suite in suites], ["0", "0", "1"],
          "errors")
    check('a<b>"&??\u20ac.trace' in suites[1].get("name"),
          suites[1].get("name"))
    check("tgt_recurse" in suites[0].find("testcase/failure").text, "stacks")
    equal([case.get("name") for case in suites[0].iter("testcase")],
          ["max-live", "max-peak"], "cases")


@case
def a_trace_with_a_gap(directory):
    trace = leaky(directory)
    with open(trace, "rb") as whole:
        data = whole.read()
    cut = os.path.join(directory, "cut")
    with open(cut, "wb") as out:
        out.write(data[:len(data) - 20])
    gnomon("check", cut, "--max-peak", "1G", statuses=(3,))
    gnomon("check", cut, "--max-peak", "0", statuses=(1,))
    gnomon("check", trace, "--baseline", cut, "--max-growth", "1000%",
           statuses=(3,))


@case
def wrong_use(directory):
    trace = leaky(directory)
    for arguments in ([trace], [trace, "--max-growth", "5%"],
                      [trace, "--max-live", "-1"],
                      [trace, "--baseline", trace, "--max-growth", "x%"],
                      [trace, "--baseline", trace, "--max-growth", "inf"],
                      [trace, "--baseline", trace + ".none"],
                      [trace, "--max-live", "1G", "--junit", "/nowhere/x"],
                      [trace + ".none", "--max-live", "0"]):
        done = bare([GNOMON, "check", *arguments])
        equal(done.status, 2, " ".join(arguments))
        check(done.err.startswith("gnomon: "), done.err)


main()
