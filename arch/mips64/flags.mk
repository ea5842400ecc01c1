# The C library has no start for a position-independent program that is static.
RECORDER_LINK := -static -no-pie
