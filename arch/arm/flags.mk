# Unwind tables for all functions that call, not only for exceptions.
# No frame pointer: system calls need its register for their number, and the
# entries of hooks (entry.h) record what a frame pointer would give.
TARGET_CFLAGS += -funwind-tables -fomit-frame-pointer

# Division: not all processors of this kind have an instruction for it.
TARGET_LIBS := -lgcc

# The C library has no start-up code for static position-independent programs.
RECORDER_LINK := -static -no-pie
