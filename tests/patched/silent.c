/*
 * silent.c: has a malloc of its own and calls it never. Lives 6 seconds and
 * ends without a destructor.
 */
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec left = { 6, 0 };

	while (nanosleep(&left, &left))
		;
	_exit(0);
}
