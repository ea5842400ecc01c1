# The C library has no start for a position-independent program that is static.
RECORDER_LINK := -static -no-pie

# Hidden symbols stay global: compilers call them by entries of the table of
# addresses, which the linker takes for global symbols only.
UNWIND_HIDE = $(UNWIND_RENAME)
