#!/usr/bin/python3
"""The page of `gnomon serve` in use: what a user reads, copies and is asked, in
places where it once misled."""

import os

from browser import browsed
from gnomon_test import GNOMON, case, check, equal, main, program, recorded
from served import Server, walked


@case
def menus_stay_while_traces_come(directory):
    """Another trace that is recorded closes no menu."""
    recorded([program("leaky")], directory,
             options=("-o", os.path.join(directory, "first.trace")))
    record = ["record", [GNOMON, "run", "-q", "-o", os.path.join(
        directory, "second.trace"), program("leaky")]]
    come = [record, ["wait", "#trace option:nth-child(2)"]]
    with Server(directory) as server:
        said = walked(server, menu=[
            "#groups?trace=first", ["rightRow", "tgt_list"], *come,
            ["count", "open", "[role=menuitem]"], ["press", "Escape"],
            ["count", "closed", "[role=menuitem]"]])["menu"]
    check(said["open"] > 2, said)
    equal(said["closed"], 0, "after Escape")


@case
def other_traces_do_not_stand_in(directory):
    """An address of a trace that is not served says so, and offers those that
    are."""
    done = recorded([program("leaky")], directory)
    with Server(done.trace) as server:
        said = walked(server, gone=[
            "#groups?trace=abc123", ["text", "said", "#view"],
            ["count", "rows", ".t-row"],
            ["click", "#view .state a"], ["count", "chosen", ".t-row"],
            ["go", "#tree?trace=abc123"], ["text", "again", "#view"],
            ["go", "#tree"], ["count", "first", ".t-row"]])["gone"]
    check("“abc123” is not served" in said["said"], said["said"])
    check("“abc123” is not served" in said["again"], said["again"])
    equal(said["rows"], 0, "rows of another trace")
    check(said["chosen"] > 0 and said["first"] > 0, said)


if __name__ == "__main__":
    main()
