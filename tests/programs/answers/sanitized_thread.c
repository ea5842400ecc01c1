// CC: gcc
// FLAGS: -pthread -fsanitize=thread
/* sanitized_thread.c: the mixture, built with a sanitizer. */
#include "mixture.c"
