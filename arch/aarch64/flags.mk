# Atomics as instructions of Armv8.0, which all processors have, instead of
# calls of the compiler's library, which we are not linked with.
TARGET_CFLAGS += -mno-outline-atomics

# For test programs: pointer authentication, and landing pads (BTI).
SIGN_RETURNS := -mbranch-protection=standard
