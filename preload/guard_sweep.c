/*
 * guard_sweep.c: see guard_sweep.h.
 *
 * Looked at is what is private, writable and of no file, and of that the pages
 * that are there: a page that was never written to has no blocks, and reading
 * it would make the kernel give one.
 *
 * Blocks are aligned to GUARD_ALIGN. So where a header may begin there is one
 * word to compare of each GUARD_ALIGN bytes, and one for a twin. A block is
 * taken by its header; by its twin where the header is not whole.
 */
#include "preload/guard_sweep.h"

#include "preload/proc_lines.h"
#include "preload/sys.h"

#define SWEEP_PAGE 4096u
#define SWEEP_ENTRIES 512u	/* of the page map, at a time */
#define SWEEP_PRESENT (UINT64_C(1) << 63)
#define SWEEP_SWAPPED (UINT64_C(1) << 62)
/* Of addresses: more than a heap takes at once, less than what some programs
 * set aside (the page map would be read for minutes). */
#define SWEEP_MAPPING_MAX (UINT64_C(256) << 30)
#define SWEEP_LINES 8192u	/* a line with a longer path is a file's */

/* Whether all of [from, to) can be read. */
static bool sweep_readable(struct guard_sweep *sweep, uintptr_t from,
			   uintptr_t to)
{
	uintptr_t page = from & -(uintptr_t)SWEEP_PAGE;

	for (; page < to; page += SWEEP_PAGE) {
		if (page == sweep->page)
			continue;
		if (!sweep->shape->readable(page))
			return false;
		sweep->page = page;
	}
	return true;
}

static void sweep_block(struct guard_sweep *sweep, uintptr_t block,
			bool header)
{
	struct guard_found found;
	struct guard_harm harm;
	uintptr_t end;

	if (!sweep_readable(sweep, block, block + 1) ||
	    guard_find(sweep->shape, block, &found) != GUARD_LIVE ||
	    found.header != header)
		return;
	sweep->blocks++;
	harm = guard_look_front(sweep->shape, block, &found);
	if (harm.bytes)
		sweep->tell(sweep->owner, block, &found, harm);
	end = block + found.size;
	if (!sweep_readable(sweep, end, end + sweep->shape->zone))
		return;
	harm = guard_look_rear(sweep->shape, block, found.size);
	if (harm.bytes)
		sweep->tell(sweep->owner, block, &found, harm);
}

void guard_sweep_range(struct guard_sweep *sweep, uintptr_t start,
		       uintptr_t end)
{
	/* the word of each GUARD_ALIGN bytes in which a header begins */
	const uintptr_t odd = GUARD_ALIGN -
			      sizeof(struct guard_header) % GUARD_ALIGN;
	uintptr_t at;

	for (at = start; at < end; at += GUARD_ALIGN) {
		if (unlikely(*(const uint64_t *)(at + odd) == GUARD_MAGIC))
			sweep_block(sweep,
				    at + odd + sizeof(struct guard_header),
				    true);
		if (unlikely(*(const uint64_t *)at == GUARD_TWIN))
			sweep_block(sweep, at + sweep->shape->front, false);
	}
}

static void sweep_page(struct guard_sweep *sweep, uintptr_t page,
		       uint64_t entry)
{
	if (!(entry & (SWEEP_PRESENT | SWEEP_SWAPPED)))
		return;
	/* what is not present may be no page at all, but a mark */
	if (entry & SWEEP_PRESENT || sweep->shape->readable(page))
		guard_sweep_range(sweep, page, page + SWEEP_PAGE);
}

static void sweep_mapping(struct guard_sweep *sweep, int map,
			  uintptr_t start, uintptr_t end)
{
	uint64_t entries[SWEEP_ENTRIES];
	long got, i;

	if (end - start > SWEEP_MAPPING_MAX) {
		sweep->skipped += end - start;
		return;
	}
	while (start < end) {
		uint64_t count = base_min(SWEEP_ENTRIES,
					  (end - start) / SWEEP_PAGE);

		got = arch_syscall4(__NR_pread64, map, (long)entries,
				    count * sizeof(*entries),
				    start / SWEEP_PAGE * sizeof(*entries));
		if (sys_failed(got) || got < (long)sizeof(*entries)) {
			sweep->skipped += end - start;
			return;
		}
		got /= sizeof(*entries);
		for (i = 0; i < got; i++, start += SWEEP_PAGE)
			sweep_page(sweep, start, entries[i]);
	}
}

void guard_sweep_all(struct guard_sweep *sweep)
{
	char buffer[SWEEP_LINES];
	struct proc_lines_mapping m;
	struct proc_lines lines;
	const char *line;
	int map = sys_open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC,
			   0);

	if (sys_failed(map))
		return;
	if (!proc_lines_open(&lines, "/proc/thread-self/maps", buffer,
			     sizeof(buffer))) {
		while ((line = proc_lines_next(&lines)))
			if (proc_lines_mapping(line, &m) && !m.inode &&
			    m.flags & PROC_LINES_WRITE &&
			    m.flags & PROC_LINES_READ &&
			    !(m.flags & PROC_LINES_SHARED))
				sweep_mapping(sweep, map, m.start, m.end);
		proc_lines_close(&lines);
	}
	sys_close(map);
}
