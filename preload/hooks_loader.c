/*
 * hooks_loader.c: dl_iterate_phdr, so that it is known who is inside
 * (loader.h). Called from anywhere, by the unwinders of exceptions too.
 */
#include <link.h>
#include <stddef.h>

#include "preload/hooks.h"
#include "preload/life.h"
#include "preload/loader_count.h"

typedef int loader_callback(struct dl_phdr_info *info, size_t size,
			    void *data);

int dl_iterate_phdr(loader_callback *callback, void *data);

HOOK int dl_iterate_phdr(loader_callback *callback, void *data)
{
	int (*real_one)(loader_callback *, void *) =
		(int (*)(loader_callback *, void *))life_real(
			LIFE_dl_iterate_phdr);
	int result;

	if (!real_one)
		return 0;
	loader_enter();
	result = real_one(callback, data);
	loader_leave();
	return result;
}
