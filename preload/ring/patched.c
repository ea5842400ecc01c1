/* patched.c: see patched.h. */
#include "preload/ring/patched.h"

#include <string.h>

#include "preload/base/base.h"
#include "preload/base/patch_format.h"

static uint64_t patched_hash(const char *name)
{
	return patch_hash(name, strlen(name));
}

void patched_add(struct patched_list *list, const char *name, bool program,
		 enum patched_known known)
{
	uint32_t count = atomic_load_explicit(&list->count,
					      memory_order_relaxed);

	if (count >= PATCHED_IMAGES)
		return;
	list->image[count] = (struct patched){ patched_hash(name), program,
					       known };
	/* pairs with the acquire of patched_find */
	atomic_store_explicit(&list->count, count + 1, memory_order_release);
}

enum patched_known patched_find(const struct patched_list *list,
				const char *name, bool program)
{
	uint32_t count = base_min(atomic_load_explicit(&list->count,
						       memory_order_acquire),
				  PATCHED_IMAGES), i;
	uint64_t hash = patched_hash(name);

	for (i = 0; i < count; i++) {
		const struct patched *image = &list->image[i];

		if (image->program != program)
			continue;
		/* there is one program, and its name may be a link's */
		if (image->name == hash ||
		    (program && image->known == PATCHED_DONE))
			return image->known;
	}
	return PATCHED_NOT;
}
