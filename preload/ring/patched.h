/*
 * patched.h: images with a patched allocator (patch.h), or with one that was
 * not patched and the user knows why. Hooks pass the list to the recorder by
 * value. The target's only thread at that time writes it, the recorder reads
 * it.
 */
#ifndef GNOMON_PATCHED_H
#define GNOMON_PATCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/base/byte_order.h"

#define PATCHED_IMAGES 16

enum patched_known { PATCHED_NOT, PATCHED_TOLD, PATCHED_DONE };

ORDER_BEGIN

struct patched_list {
	order_32 count;
	struct patched {
		uint64_t name;		/* hash of the name */
		uint32_t program;	/* 1: it is the program itself */
		uint32_t known;		/* enum patched_known */
	} image[PATCHED_IMAGES];
};

ORDER_END

/* The name is that of the file without directories. Images beyond
 * PATCHED_IMAGES are ignored. */
void patched_add(struct patched_list *list, const char *name, bool program,
		 enum patched_known known);

#endif
