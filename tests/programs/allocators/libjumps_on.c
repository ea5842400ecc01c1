// FLAGS: -O2 -foptimize-sibling-calls
/*
 * libjumps_on.c: a free that ends with a tail jump to another one. The other
 * functions are the C library's.
 */
extern void __libc_free(void *block);

void free(void *block)
{
	__libc_free(block);
}
