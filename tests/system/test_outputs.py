#!/usr/bin/python3
"""The output of all commands, with all options, for stored traces equals the
recorded output. tests/tools/outputs records it again after an intended
change."""

from gnomon_test import *

OUTPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "tools", "outputs")


@case
def outputs_equal_the_recorded_ones(_):
    need_root("hide the debug files of this machine")
    need_mounts()
    done = bare(["/usr/bin/python3", OUTPUTS, "compare",
                 os.path.dirname(GNOMON)], seconds=300)
    equal(done.status, 0, done.out[-3000:] + done.err[-1000:])


main()
