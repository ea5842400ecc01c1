// CC: gcc
// FLAGS: -fsanitize=leak
/* leaky_lsan.c: the same leaks under LeakSanitizer, to compare with. */
#include "leaky.c"
