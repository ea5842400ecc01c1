// CC: gcc
// FLAGS: -pthread -fsanitize=address
/* sanitized_address.c: the mixture, built with a sanitizer. */
#include "mixture.c"
