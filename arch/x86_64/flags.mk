# Hooks are entered by calls and jumps of any kind; pads would do nothing but
# cost a place in the processor's caches.
TARGET_CFLAGS += -fcf-protection=none
