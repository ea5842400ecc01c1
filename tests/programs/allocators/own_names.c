/*
 * own_names.c: checks which of the given names dlsym finds, and that its errors
 * are correct.
 */
#include <dlfcn.h>

#include "tgt.h"

/* What programs ask by weak references. */
extern void *mallocx(size_t size, int flags) __attribute__((weak));
extern void *tc_malloc(size_t size) __attribute__((weak));
extern void *mi_malloc(size_t size) __attribute__((weak));
extern void *_Znwm(size_t size) __attribute__((weak));
extern void _ZdlPvm(void *block, size_t size) __attribute__((weak));
extern void free_sized(void *block, size_t size) __attribute__((weak));
extern int mallopt(int parameter, int value) __attribute__((weak));
extern int malloc_trim(size_t keep) __attribute__((weak));

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		dlerror();
		tgt_write(argv[i]);
		tgt_print(" found", dlsym(RTLD_DEFAULT, argv[i]) != NULL);
		tgt_print(" error", dlerror() != NULL);
	}
	tgt_print("mallocx", mallocx != NULL);
	tgt_print("tc_malloc", tc_malloc != NULL);
	tgt_print("mi_malloc", mi_malloc != NULL);
	tgt_print("_Znwm", _Znwm != NULL);
	tgt_print("_ZdlPvm", _ZdlPvm != NULL);
	tgt_print("free_sized", free_sized != NULL);
	tgt_print("mallopt", mallopt != NULL);
	tgt_print("malloc_trim", malloc_trim != NULL);
	return 0;
}
