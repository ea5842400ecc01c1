// CC: gcc
// FLAGS: -pthread -fsanitize=undefined
/* sanitized_undefined.c: the mixture, built with a sanitizer. */
#include "mixture.c"
