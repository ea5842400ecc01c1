/*
 * copied.c: one leak, allocated inside of a C library function.
 */
#include <string.h>

static char *volatile copy;

int main(void)
{
	copy = strdup("nine bytes");
	copy = NULL;
	return 0;
}
