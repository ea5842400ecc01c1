/* patched.c: see patched.h. */
#include "preload/ring/patched.h"

#include <string.h>

#include "preload/base/patch_format.h"

void patched_add(struct patched_list *list, const char *name, bool program,
		 enum patched_known known)
{
	uint32_t count = atomic_load_explicit(&list->count,
					      memory_order_relaxed);

	if (count >= PATCHED_IMAGES)
		return;
	list->image[count] = (struct patched){
		patch_hash(name, strlen(name)), program, known
	};
	/* pairs with the acquire of static_allocator_known */
	atomic_store_explicit(&list->count, count + 1, memory_order_release);
}
