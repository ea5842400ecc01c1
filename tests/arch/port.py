"""What the tests of a port share: programs of tests/matrix and tests/programs,
bare and recorded in each way of taking stacks, on the target or under an emulator
(make check-arch). The oracle takes stacks a second time."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "system"))

from gnomon_test import *
from matrix import *

ARCH = os.environ.get("GNOMON_ARCH", os.uname().machine)
# All three ways, and the one that has barriers with them wherever they may be.
WAYS = ("near1", "oracle", "validate", "off")


def on_target(name, *arguments, program=None, **wishes):
    wishes.setdefault("modes", WAYS)
    target("_".join([name, *map(os.path.basename, arguments)]),
           [program or matrix_program(name), *arguments], **wishes)


def suite(name, *arguments, **wishes):
    """A program of tests/programs/."""
    on_target(name, *arguments, program=os.path.join(TARGET_PROGRAMS, name),
              **wishes)
