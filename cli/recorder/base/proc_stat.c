/*
 * proc_stat.c: see proc_stat.h.
 */
#include "cli/recorder/base/proc_stat.h"

#include <stdlib.h>
#include <string.h>

#include "cli/recorder/base/proc_file.h"

#define PROC_STAT_MAX 2048

bool proc_stat_field(const char *stat, unsigned field, uint64_t *value)
{
	/* the name, field 2, may contain blanks and brackets */
	const char *at = strrchr(stat, ')');
	unsigned i;

	if (!at)
		return false;
	at++;
	for (i = PROC_STAT_STATE; i < field; i++) {
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	at += strspn(at, " ");
	if (!*at || *at == '\n')
		return false;
	*value = field == PROC_STAT_STATE ? (uint64_t)*at :
					    strtoull(at, NULL, 10);
	return true;
}

bool proc_stat(int pid, unsigned field, uint64_t *value)
{
	char buffer[PROC_STAT_MAX];

	return proc_file_read_of(pid, "stat", buffer, sizeof(buffer)) > 0 &&
	       proc_stat_field(buffer, field, value);
}
