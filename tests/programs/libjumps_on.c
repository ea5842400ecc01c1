// FLAGS: -O2 -foptimize-sibling-calls
/*
 * libjumps_on.c: a free that is left by a jump to another one. All else is the
 * C library's.
 */
extern void __libc_free(void *block);

void free(void *block)
{
	__libc_free(block);
}
