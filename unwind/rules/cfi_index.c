/*
 * cfi_index.c: builds at run time the search table that linkers write into
 * .eh_frame_hdr.
 *
 * A linear lookup reads every record, 0.5 ms in a program of 15000 FDEs; a
 * program that needs them one by one would take seconds. The entries have the
 * format of .eh_frame_hdr, so the same search works:
 *
 *	| code, record | code, record | ...	both from .eh_frame's first byte
 *
 * Heap sort orders them: in place, and without a bad worst case for a section
 * in hostile order.
 *
 * I1  Entries are sorted by (code, record), as by a stable sort by code: among
 *     equals the later record wins (cfi.h).
 */
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/rules/cfi_index.h"

struct entry {
	int32_t code, record;
};
_Static_assert(sizeof(struct entry) == 8, "as in .eh_frame_hdr");

/* False: the distance does not fit into an entry. */
static bool make_entry(const struct cfi_tables *t, const struct cfi_fde *fde,
		       uintptr_t at, struct entry *e)
{
	int64_t code = (int64_t)((uint64_t)fde->start - t->frames);
	int64_t record = (int64_t)((uint64_t)at - t->frames);

	e->code = (int32_t)code;
	e->record = (int32_t)record;
	return e->code == code && e->record == record;
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->code < b->code || (a->code == b->code &&
				     a->record < b->record);
}

/* Moves entry i down to its position in the heap of the first n. */
static void sink(struct entry *e, size_t i, size_t n)
{
	struct entry moved = e[i];
	size_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(&e[child], &e[child + 1]))
			child++;
		if (!before(&moved, &e[child]))
			break;
		e[i] = e[child];
	}
	e[i] = moved;
}

static void sort(struct entry *e, size_t n)
{
	size_t i;

	for (i = n / 2; i-- > 0;)
		sink(e, i, n);
	for (i = n; i-- > 1;) {
		struct entry last = e[i];

		e[i] = e[0];
		e[0] = last;
		sink(e, 0, i);
	}
}

static bool is_sorted(const struct entry *e, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (!before(&e[i - 1], &e[i]))
			return false;
	return true;
}

size_t cfi_index_make(struct cfi_tables *t)
{
	struct cfi_fde fde = { .cie_at = 0 };
	uintptr_t record = 0, at;
	struct entry *entries, e;
	size_t n = 0, i = 0;

	if (t->table || !t->frames)
		return 0;
	while (cfi_next(t, &record, &at, &fde)) {
		if (!make_entry(t, &fde, at, &e))
			return 0;
		n++;
	}
	entries = n ? unwind_alloc(n * sizeof(*entries)) : NULL;
	if (!entries)
		return 0;
	for (record = 0; i < n && cfi_next(t, &record, &at, &fde); i++)
		make_entry(t, &fde, at, &entries[i]);
	if (!is_sorted(entries, n))
		sort(entries, n);
	DEBUG_ASSERT(is_sorted(entries, n));	/* I1 */
	t->table = (uintptr_t)entries;
	t->table_base = t->frames;
	t->entries = n;
	t->entry_encoding = CFI_PE_DATAREL | CFI_PE_SDATA4;
	t->field_size = sizeof(int32_t);
	return n * sizeof(*entries);
}
