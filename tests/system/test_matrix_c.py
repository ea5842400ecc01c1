#!/usr/bin/python3
# TIMEOUT: 300
"""The matrix, part one: what C, C++ and assembly can do to a stack."""

from gnomon_test import *
from matrix import *


def whole(name, *arguments, **wishes):
    """A deterministic target: the stacks are the same in all modes."""
    target("_".join([name, *arguments]), [matrix_program(name), *arguments],
           stacks=True, **wishes)


whole("throws")

main()
