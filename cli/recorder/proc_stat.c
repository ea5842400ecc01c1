/*
 * proc_stat.c: see proc_stat.h.
 */
#include "cli/recorder/proc_stat.h"
#include "cli/recorder/proc_lines.h"

#include "cli/recorder/proc_file.h"

#define PROC_STAT_MAX 2048

bool proc_stat_field(const char *stat, unsigned field, uint64_t *value)
{
	const char *at, *after = NULL;
	unsigned i;

	/* the name, field 2, may hold blanks and brackets of its own */
	for (at = stat; *at; at++)
		if (*at == ')')
			after = at + 1;
	if (!after)
		return false;
	for (i = PROC_STAT_STATE, at = after; i < field; i++) {
		while (*at == ' ')
			at++;
		while (*at && *at != ' ')
			at++;
	}
	while (*at == ' ')
		at++;
	if (!*at || *at == '\n')
		return false;
	*value = field == PROC_STAT_STATE ? (uint64_t)*at : proc_lines_number(&at);
	return true;
}

bool proc_stat(int pid, unsigned field, uint64_t *value)
{
	char buffer[PROC_STAT_MAX];

	return proc_file_read_of(pid, "stat", buffer, sizeof(buffer)) > 0 &&
	       proc_stat_field(buffer, field, value);
}
