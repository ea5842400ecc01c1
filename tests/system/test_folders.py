#!/usr/bin/python3
"""The include rules of folders in cli/; lint detects each violation."""

import sys

from gnomon_test import *

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
import lint
import lint_cli

GOOD = {
    "cli/main.c": ["cli/commands.h"],
    "cli/commands.h": [],
    "cli/report/cmd_report.c": ["cli/commands.h", "cli/command/trace_args.h",
                                "cli/base/terminal/log.h"],
    "cli/command/trace_args.h": ["cli/model/model.h"],
    "cli/model/model.h": ["cli/model/core/blocks.h", "cli/trace/read/reader.h"],
    "cli/model/model_state.h": ["cli/model/model.h"],
    "cli/model/account.h": ["cli/model/model_state.h"],
    "cli/model/account.c": ["cli/model/account.h"],
    "tests/unit/cli/model/test_account.c": ["cli/model/model_state.h"],
    "cli/model/core/blocks.h": ["cli/base/grow.h"],
    "cli/trace/read/reader.h": ["preload/format.h"],
    "cli/recorder/ring_drain.h": ["cli/recorder/emit/chunk.h"],
    "cli/recorder/emit/chunk.h": [],
    "cli/recorder/emit/encode.c": ["cli/recorder/ring_drain.h"],
    "cli/base/grow.h": [],
    "cli/base/terminal/log.h": [],
}


def offences(directory, changes):
    """Of a tree in which these files include something else, or are new."""
    tree = dict(GOOD, **changes)
    for path, names in tree.items():
        whole = os.path.join(directory, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.writelines('#include "%s"\n' % name for name in names)
    found, here = [], os.getcwd()
    lint.offences = []
    os.chdir(directory)
    try:
        lint_cli.check(sorted(tree), lambda where, what:
                       found.append("%s: %s" % (where, what)))
        for path in sorted(tree):
            with open(path, encoding="utf-8") as file:
                lint.check_includes(path, file.read().splitlines())
    finally:
        os.chdir(here)
    return found + lint.offences


def one(directory, name, words, changes):
    found = offences(os.path.join(directory, name), changes)
    check(len(found) == 1 and words in found[0], "%s: %s" % (name, found))


@case
def a_tree_that_is_right(directory):
    equal(offences(directory, {}), [], "offences")


@case
def against_the_order(directory):
    for name, path, upward in [
            ("layer", "cli/model/core/blocks.h", "cli/stack/frames.h"),
            ("sibling", "cli/trace/read/reader.h", "cli/symbol/elf/bytes.h"),
            ("command", "cli/report/cmd_report.c", "cli/check/check.h"),
            ("recorder", "cli/run/program.c", "cli/recorder/ring_drain.h"),
            ("outside", "cli/model/model.h", "preload/format.h")]:
        one(directory, name, 'may not include "%s"' % upward, {path: [upward]})


@case
def include_cycles_are_found(directory):
    one(directory, "folders", "folders include each other", {
        "cli/model/core/chains.c": ["cli/model/model.h"]})
    one(directory, "headers", "headers include each other", {
        "cli/model/core/blocks.h": ["cli/model/core/chains.h"],
        "cli/model/core/chains.h": ["cli/model/core/blocks.h"]})


@case
def misplaced_files_are_found(directory):
    one(directory, "top", "lies in none", {"cli/profile.h": []})
    one(directory, "unknown", "lies in none", {"cli/profile/profile.h": []})
    one(directory, "many", "has 41 files", {
        "cli/stack/s%d.h" % number: [] for number in range(41)})
    one(directory, "prints", "may not print", {
        "cli/export/massif.c": ["cli/base/terminal/log.h"]})


@case
def the_state_of_a_model(directory):
    """Also through another header, and for other tests."""
    for name, path, include in [
            ("below", "cli/stack/frames.c", "cli/model/model_state.h"),
            ("through", "cli/report/cmd_report.c", "cli/model/account.h"),
            ("test", "tests/unit/cli/stack/test_account.c",
             "cli/model/account.h"),
            ("other", "tests/unit/cli/model/test_other.c",
             "cli/model/model_state.h")]:
        one(directory, name, 'may not include "cli/model/model_state.h"',
            {path: [include]})


main()
