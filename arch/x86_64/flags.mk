# Hooks are entered by calls and jumps of any kind; landing pads would only cost
# space in the processor's caches.
TARGET_CFLAGS += -fcf-protection=none
