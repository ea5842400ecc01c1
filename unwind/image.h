/*
 * image.h: the ELF objects that are mapped, each with its unwind tables and
 * the epoch (an interval of context ids) in which its addresses meant it.
 */
#ifndef GNOMON_UNWIND_IMAGE_H
#define GNOMON_UNWIND_IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/capture.h"
#include "unwind/rules.h"

struct image {
	uintptr_t start, end;	/* whole span of its segments */
	uintptr_t code_start, code_end;	/* its executable segment, if it has
					 * just one */
	uintptr_t bias;
	struct rules_image *rules;	/* see image_rules */
	struct gl_image *public;	/* its record in the live file, if it
					 * has room */
	bool no_barrier;	/* see image_pass_barrier */
	bool stays;		/* never unmapped */
	bool listed;		/* seen in the scan under way */
	_Atomic bool gone;	/* written under the lock */
	bool hearsay;		/* as of rules_sections */
	uintptr_t link_map;	/* the loader's entry */
	uintptr_t tables;	/* .eh_frame_hdr, or .eh_frame by hearsay; 0:
				 * none known */
	size_t tables_size;
	uintptr_t index;	/* of ARM's tables; 0: none */
	size_t index_size;
};

static inline bool image_is_gone(const struct image *image)
{
	return atomic_load_explicit(&image->gone, memory_order_relaxed);
}

/* Forgets all earlier state, then lists what is mapped. 0 or -errno. */
int image_init(const struct capture_config *config);

/*
 * The image whose executable code holds pc, NULL if none does. A pc in no
 * known image makes it look at the loader's list when something was loaded
 * since. NULL also if another thread is at that: see image_borrow. Any thread,
 * also signal handlers.
 */
const struct image *image_find(uintptr_t pc);

/*
 * The image's unwind tables, made when they are first asked for; NULL: no
 * memory. The image must be mapped, as it is while its code runs.
 */
struct rules_image *image_rules(const struct image *image);

/*
 * For a pc that image_find knows no image of: the unwind tables of the image
 * that the loader has there, if another thread is about to list it. They hold
 * while its code runs; nothing that is found by them may be remembered.
 */
bool image_borrow(uintptr_t pc, struct rules_image *rules);

/*
 * Whether the loader has loaded or unloaded something since the last scan: it
 * does so by itself as well (gconv, NSS), without passing our hooks. A few
 * loads (linkmap.h).
 */
bool image_list_is_stale(void);

/*
 * Brings the list up to date with the loader's after capture_generation
 * moved. False: another thread is at it, this one was interrupted in it, or the
 * loader is changing its list; the caller must not trust what it remembers.
 * *changed: some image is gone, or new; then the rule cache is empty and
 * capture_generation has moved, as whenever a scan finds a change.
 */
bool image_refresh(bool *changed);

/*
 * Whether a barrier may stand in for a return address in this image: not in
 * the C library, the loader and those that unwind or replace return addresses
 * themselves (image_kind.c). Decided once, when the image was found.
 */
static inline bool image_pass_barrier(const struct image *image)
{
	return !image->no_barrier;
}

/*
 * Whether some image that is or was mapped forbids barriers in the whole
 * process, and why; GT_WHY_DEFAULT: none. Never goes back. Each scan of the
 * loader's list may change it, so after image_refresh and image_find it is to
 * be asked again. Any thread, also signal handlers.
 */
enum gt_mode_why image_barriers_verdict(void);

/* Each image has its record, and its epoch; under the lock, or while nothing is
 * loaded. With GNOMON_CLAIMS (claim.h). */
bool image_list_is_valid(void);

#endif
