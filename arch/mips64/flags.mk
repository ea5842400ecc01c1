# The C library has no start-up code for static position-independent programs.
RECORDER_LINK := -static -no-pie

# Hidden symbols stay global: compilers call them through GOT entries, which the
# linker makes for global symbols only.
UNWIND_HIDE = $(UNWIND_RENAME)
