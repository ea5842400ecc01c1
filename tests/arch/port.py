"""What the tests of a port share: programs of tests/matrix and tests/programs,
bare and recorded in each way of taking stacks, on the target or under an emulator
(make check-arch)."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "system"))

from gnomon_test import *
from matrix import *

ARCH = os.environ.get("GNOMON_ARCH", os.uname().machine)
# All three ways: barriers in each caller, where the oracle takes stacks a second
# time. ALL has them further out, too, and where they are by themselves.
MODES["near1"] = {**MODES["oracle"], "GNOMON_DEBUG_BARRIER": "1"}
WAYS = ("near1", "validate", "off")
# Ports whose compilers can be told to sign return addresses (flags.mk).
SIGNING = ("aarch64",)


def on_target(name, *arguments, program=None, **wishes):
    wishes.setdefault("modes", WAYS)
    target("_".join([name, *map(os.path.basename, arguments)]),
           [program or matrix_program(name), *arguments], **wishes)


def shorter(*arguments):
    """Arguments of a program that does less of the same, where an emulator
    makes it ten times as long; none where it runs by itself."""
    return arguments if EMULATOR else ()


def suite(name, *arguments, **wishes):
    """A program of tests/programs/."""
    on_target(name, *arguments, program=os.path.join(TARGET_PROGRAMS, name),
              **wishes)
