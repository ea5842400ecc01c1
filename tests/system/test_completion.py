#!/usr/bin/python3
"""Completions that bash offers after `gnomon`."""

from gnomon_test import *

SCRIPT = os.path.join(BUILD, "completion", "gnomon.bash")


def offered(directory, *words):
    """For the last of these words, as bash splits them."""
    quoted = " ".join("'%s'" % word for word in words)
    return bare(["/bin/bash", "-c", "source %s; COMP_WORDS=(%s); "
                 "COMP_CWORD=%d; _gnomon; echo \"${COMPREPLY[@]}\"" % (
                     SCRIPT, quoted, len(words) - 1)],
                cwd=directory).out.split()


@case
def commands_options_and_choices(directory):
    check("report" in offered(directory, "gnomon", "rep"), "commands")
    equal(offered(directory, "gnomon", "report", "--so"), ["--sort",
          "--source"], "options")
    for words in (("--tree", "b"), ("--tree", "=", "b"), ("-t", "b")):
        equal(offered(directory, "gnomon", "report", *words), ["bottom-up"],
              words)
    check("top-down" in offered(directory, "gnomon", "report", "--tree", "="),
          "all choices")


@case
def files_only_where_files_are_wanted(directory):
    open(os.path.join(directory, "a.trace"), "w").close()
    equal(offered(directory, "gnomon", "report", "a"), ["a.trace"], "traces")
    for words in (("--output", ""), ("--output", "="), ("-o", "a")):
        equal(offered(directory, "gnomon", "report", *words), ["a.trace"],
              words)
    for words in (("--top", ""), ("--size-min", ""), ("--size-min", "="),
                  ("--size-min", "=", "a"), ("-n", "")):
        equal(offered(directory, "gnomon", "report", *words), [], words)
    equal(offered(directory, "gnomon", "run", "--memory", "="), [], "sizes")


if __name__ == "__main__":
    main()
