/*
 * rules.c: finds the rule for a pc.
 *
 *	pc -> granule table -> number                     warm, some 10 ns
 *	   -> .eh_frame_hdr -> FDE -> rows -> numbers     cold, under 1 us
 *	                              `-> granule table, if the lock is free
 *
 * An FDE is interpreted once, from front to back, and all its rows within the
 * index page around pc are stored; so is a gap that no FDE covers. If the lock
 * is held, by another thread or by the code that this signal handler
 * interrupted, the FDE is interpreted up to pc and nothing is stored.
 *
 * Called by any thread, also in signal handlers; rules_init by one thread
 * before all others.
 *
 * I1  The result of rules_find does not depend on earlier calls: a row is
 *     stored only where its FDE, or none, would be found for every pc (cfi.h).
 * I2  The lock is held for bounded work, and no thread waits for it.
 */
#include <errno.h>

#include "decode.h"
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/rules/cfi_index.h"
#include "unwind/rules/rule_class.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/rules/rules_exidx.h"

static _Atomic size_t images_bytes;

struct collector {
	const struct cfi_fde *fde;
	struct granule_writer *writer;	/* NULL: store nothing */
	uintptr_t pc;
	uint16_t found;			/* the rule id for pc */
	uint16_t last_id;
	struct rule last;		/* rows often repeat */
};

static bool same_rule(struct rule a, struct rule b)
{
	return __builtin_memcmp(&a, &b, sizeof(a)) == 0;	/* one word */
}

static bool collect_row(void *ctx, const struct cfa_row *row, uintptr_t start,
			uintptr_t end)
{
	struct collector *k = ctx;
	struct rule rule;

	/* Rows that will not be stored need no id. */
	if (end <= (k->writer ? k->writer->start : k->pc))
		return false;
	DEBUG_ASSERT(start < end);
	rule = rule_class_of_row(k->fde, row);
	if (k->last_id == 0 || !same_rule(rule, k->last)) {
		k->last = rule;
		k->last_id = rule_dictionary_id(rule);
	}
	DEBUG_ASSERT(k->last_id != 0 && k->last_id < rules_count());
	if (k->pc >= start && k->pc < end)
		k->found = k->last_id;
	if (!k->writer)
		return k->found != 0;
	granule_row(k->writer, start, end, k->last_id);
	return end >= k->writer->end;
}

/* Under the lock: makes and stores the rows around pc from fde, or, if it is a
 * gap, a row without a rule. */
static uint16_t interpret_and_keep(struct rules_image *image, uintptr_t pc,
				   const struct cfi_fde *fde, bool gap)
{
	struct collector k = { .fde = fde, .pc = pc };
	struct granule_writer writer;
	uint16_t id;

	/* Another thread may have stored it since our lookup. */
	if (granule_find(&image->granules, pc, &id))
		return id;
	DEBUG_ASSERT(fde->valid_start <= pc && pc < fde->valid_end);
	if (granule_begin(&writer, &image->granules, pc, fde->valid_start,
			  fde->valid_end))
		k.writer = &writer;
	if (!gap)
		cfa_program_run(fde, collect_row, &k);
	else if (k.writer)
		granule_row(&writer, fde->valid_start, fde->valid_end, 0);
	if (k.writer)
		granule_end(&writer);
	DEBUG_ASSERT(gap || k.found != 0);
	DEBUG_ASSERT(k.found < rules_count());
	return k.found;
}

static uint16_t rule_of_fde(uintptr_t pc, const struct cfi_fde *fde)
{
	struct collector k = { .fde = fde, .pc = pc };

	cfa_program_run(fde, collect_row, &k);
	DEBUG_ASSERT(k.found != 0);
	return k.found;
}

int rules_entry(const struct rules_image *image, uintptr_t pc,
		struct cfi_fde *fde)
{
	int status = cfi_find(&image->tables, pc, fde);
	uintptr_t low, high;

	if (rules_exidx_is_there(image))
		rules_exidx_code(image, pc, &fde->valid_start,
				 &fde->valid_end);
	if (status != -ENOENT || !image->prepared.table)
		return status;
	low = fde->valid_start;
	high = fde->valid_end;
	status = cfi_find(&image->prepared, pc, fde);
	if (status == -EINVAL)
		return status;
	/* I1: the range must be valid in both */
	if (fde->valid_start < low)
		fde->valid_start = low;
	if (fde->valid_end > high)
		fde->valid_end = high;
	DEBUG_ASSERT(fde->valid_start <= pc && pc < fde->valid_end);
	return status;
}

/* Not inlined, to save rules_find registers. */
static __attribute__((noinline)) uint16_t find_cold(struct rules_image *image,
						    uintptr_t pc)
{
	struct cfi_fde fde;
	uint16_t id;
	int status;

	DEBUG_ASSERT(pc >= image->text_start && pc < image->text_end);
	if (rules_exidx_is_there(image)) {
		id = rules_exidx_find(image, pc);
		if (id || !image->prepared.table)
			return id;
	}
	if (!image->tables.table && !image->tables.frames &&
	    !image->prepared.table)
		return 0;
	status = rules_entry(image, pc, &fde);
	if (status == -EINVAL)
		return RULE_DICTIONARY_BAD;
	if (!image->granules.granules || !granule_try_lock())
		return status ? 0 : rule_of_fde(pc, &fde);
	id = interpret_and_keep(image, pc, &fde, status == -ENOENT);
	granule_unlock();
	return id;
}

uint16_t rules_find(struct rules_image *image, uintptr_t pc)
{
	uint16_t id;

	if (pc < image->text_start || pc >= image->text_end)
		return 0;
	if (granule_find(&image->granules, pc, &id))
		return id;
	return find_cold(image, pc);
}

struct rules_image *rules_image_new(const struct rules_sections *sections)
{
	struct rules_image *image = unwind_alloc(sizeof(*image));

	if (!image)
		return NULL;
	image->text_start = sections->text_start;
	image->text_end = sections->text_end;
	image->code = sections->code;
	cfi_tables_init(&image->tables, sections);
	if (ARCH_ELF_EXIDX)
		rules_exidx_init(image, sections);
	atomic_fetch_add_explicit(&images_bytes,
				  sizeof(*image) +
					  cfi_index_make(&image->tables),
				  memory_order_relaxed);
	granule_table_init(&image->granules, image->text_start,
			   image->text_end);
	if (ARCH_DECODES && image->code.end)
		granule_table_init(&image->from_code, image->text_start,
				   image->text_end);
	return image;
}

int rules_init(void)
{
	granule_reset();
	atomic_store_explicit(&images_bytes, 0, memory_order_relaxed);
	return rule_dictionary_init();
}

size_t rules_bytes(void)
{
	return rule_dictionary_bytes() + granule_bytes() +
	       atomic_load_explicit(&images_bytes, memory_order_relaxed);
}
