// CC: gcc
// FLAGS: -pthread -fsanitize=leak
/* sanitized_leak.c: the mixture, built with a sanitizer. */
#include "mixture.c"
