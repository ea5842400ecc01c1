/*
 * image.h: the list of mapped ELF objects, each with its unwind tables and its
 * epoch: the interval of context ids in which an address belongs to this image.
 */
#ifndef GNOMON_UNWIND_IMAGE_H
#define GNOMON_UNWIND_IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/base/capture_config.h"
#include "unwind/rules/rules.h"

struct image {
	uintptr_t start, end;	/* from its first segment to its last */
	uintptr_t code_start, code_end;	/* its executable segment, if there is
					 * exactly one */
	uintptr_t bias;
	struct rules_image *rules;	/* see image_rules */
	struct gl_image *public;	/* its record in the live file, if there
					 * was room */
	bool forbids_barriers;	/* see image_allows_barriers */
	bool stays;		/* never unmapped */
	bool listed;		/* seen in the current scan */
	_Atomic bool gone;	/* written under the lock */
	bool unverified;	/* as of rules_sections */
	uintptr_t link_map;	/* the loader's entry */
	uintptr_t tables;	/* .eh_frame_hdr, or if unverified .eh_frame; 0:
				 * none known */
	size_t tables_size;
	uintptr_t exidx;	/* of ARM's tables; 0: none */
	size_t exidx_size;
};

static inline bool image_is_gone(const struct image *image)
{
	return atomic_load_explicit(&image->gone, memory_order_relaxed);
}

/* Incremented atomically when the loader is about to change the images (dlopen,
 * dlmopen, dlclose): the hooks of these functions do so before they jump on. */
extern __attribute__((visibility("hidden")))
_Atomic uint32_t image_generation;

/*
 * Forgets all earlier state, then lists the mapped images. rules_changed is
 * called when rules that an image had may have become invalid, in any thread,
 * under the list's lock. 0 or -errno.
 */
int image_init(const struct capture_config *config,
	       void (*rules_changed)(void));

/*
 * The image whose executable code contains pc; NULL: none. If pc is in no known
 * image, the loader's list is scanned when something was loaded since. NULL
 * also while another thread scans: see image_borrow. Any thread, also signal
 * handlers.
 */
const struct image *image_find(uintptr_t pc);

/*
 * The image's unwind tables, made at the first call; NULL: no memory. The image
 * must be mapped, as it is while its code runs.
 */
struct rules_image *image_rules(const struct image *image);

/*
 * For a pc without an image in image_find: the unwind tables of the image that
 * the loader has there, while another thread is about to list it. They are
 * valid while its code runs; results found by them must not be remembered.
 */
bool image_borrow(uintptr_t pc, struct rules_image *rules);

/*
 * Whether the loader has loaded or unloaded something since the last scan. It
 * also does so internally (gconv, NSS), without passing our hooks. Takes a few
 * loads (linkmap.h).
 */
bool image_list_is_stale(void);

/*
 * Updates the list from the loader's after image_generation has changed.
 * False: another thread updates it, this call interrupted an update, or the
 * loader is changing its list; the caller must not trust what it remembers.
 * *changed: an image was unmapped or mapped; then the rule cache is empty and
 * image_generation has been incremented, as after any scan that finds a
 * change.
 */
bool image_refresh(bool *changed);

/*
 * Whether a barrier may replace a return address in this image: not in the C
 * library, the loader, and images that unwind or replace return addresses
 * themselves (image_kind.c). Decided once, when the image was found.
 */
static inline bool image_allows_barriers(const struct image *image)
{
	return !image->forbids_barriers;
}

/*
 * Why an image that is or was mapped forbids barriers in the whole process;
 * GT_WHY_DEFAULT: none does. Never returns to GT_WHY_DEFAULT. Each scan of the
 * loader's list may change it, so call it again after image_refresh and
 * image_find. Any thread, also signal handlers.
 */
enum gt_mode_why image_forbidden_why(void);

/* Checks each image's record and epoch; call it under the lock, or while
 * nothing is loaded. With GNOMON_DEBUG_ASSERTS (assertion.h). */
bool image_list_is_valid(void);

#endif
