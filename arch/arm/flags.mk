# Unwind tables of code that calls, which this ABI has beside those of exceptions.
# No frame pointer: its register is that of the system call's number, and the
# entries of hooks (entry.h) say all that one is for.
TARGET_CFLAGS += -funwind-tables -fomit-frame-pointer

# Divisions, which not all processors of this kind have an instruction for.
TARGET_LIBS := -lgcc

# The C library has no start for a position-independent program that is static.
RECORDER_LINK := -static -no-pie
