/*
 * One leak, made inside of a function of the C library.
 */
#include <string.h>

static char *volatile copy;

int main(void)
{
	copy = strdup("nine bytes");
	copy = NULL;
	return 0;
}
