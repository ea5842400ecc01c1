/* program_ranges.c: see program_ranges.h. */
#include "cli/recorder/memory/program_ranges.h"

#include "cli/recorder/process/target_file.h"
#include "preload/base/base.h"
#include "unwind/base/assertion.h"

unsigned program_ranges_add(struct gl_range *to, unsigned count, unsigned room,
			    const struct profiler_ranges *own,
			    struct gl_range mapping, uint64_t from)
{
	uint64_t at = base_max(mapping.start, from), end;

	for (; at < mapping.end; at = end) {
		end = mapping.end;
		if (profiler_ranges_cut(own, at, &end))
			continue;
		DEBUG_ASSERT(at < end && end <= mapping.end);
		if (count == room)
			break;
		to[count++] = (struct gl_range){ at, end };
	}
	return count;
}

static bool program_ranges_has_blocks(const struct proc_lines_mapping *mapping)
{
	const unsigned flags = PROC_LINES_READ | PROC_LINES_WRITE;

	return !mapping->inode && (mapping->flags & flags) == flags &&
	       !(mapping->flags & PROC_LINES_SHARED);
}

long program_ranges_read(struct gl_range *to, unsigned room,
			 const struct program_ranges *wanted,
			 const struct gl_shared *shared)
{
	char buffer[PROC_LINES_BUFFER];
	struct proc_lines_mapping mapping;
	struct proc_lines lines;
	struct profiler_ranges own;
	unsigned count = 0;
	const char *line;
	int err;

	profiler_ranges_find(&own, shared);
	profiler_ranges_put(&own, wanted->image);
	err = target_file_lines(&lines, GL_FILE_MAPS_WHOLE, buffer,
				sizeof(buffer));
	if (err)
		return err;
	while (count < room && (line = proc_lines_next(&lines)))
		if (proc_lines_mapping(line, &mapping) &&
		    (!wanted->blocks || program_ranges_has_blocks(&mapping)))
			count = program_ranges_add(
				to, count, room, &own,
				(struct gl_range){ mapping.start, mapping.end },
				wanted->from);
	proc_lines_close(&lines);
	return count;
}
