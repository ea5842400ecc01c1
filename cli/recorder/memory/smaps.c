/*
 * smaps.c: see the header. Keys are those of proc_pid_smaps(5). The kernel
 * writes a score of other keys, most of which differ in the first letter.
 */
#include "cli/recorder/memory/smaps.h"

#include <string.h>

#include "cli/recorder/base/proc_lines.h"

static const char *const smaps_keys[SMAPS_FIGURES] = {
	[SMAPS_RSS] = "Rss:",
	[SMAPS_PSS] = "Pss:",
	[SMAPS_SHARED_CLEAN] = "Shared_Clean:",
	[SMAPS_SHARED_DIRTY] = "Shared_Dirty:",
	[SMAPS_PRIVATE_CLEAN] = "Private_Clean:",
	[SMAPS_PRIVATE_DIRTY] = "Private_Dirty:",
	[SMAPS_ANONYMOUS] = "Anonymous:",
	[SMAPS_HUGE] = "AnonHugePages:",
	[SMAPS_SWAP] = "Swap:",
};

/* The text after `key` in the line; NULL: the line has another key. */
static const char *smaps_after(const char *line, const char *key)
{
	while (*key)
		if (*line++ != *key++)
			return NULL;
	return line;
}

bool smaps_number(const char *line, const char *key, uint64_t *kib)
{
	const char *at = smaps_after(line, key), *digits;
	uint64_t value;

	if (!at)
		return false;
	while (*at == ' ' || *at == '\t')
		at++;
	digits = at;
	value = proc_lines_number(&at);
	if (at == digits || strcmp(at, " kB") != 0)
		return false;
	*kib = value;
	return true;
}

bool smaps_line(struct smaps *smaps, const char *line)
{
	unsigned i;

	for (i = 0; i < SMAPS_FIGURES; i++)
		if (smaps_number(line, smaps_keys[i], &smaps->kib[i]))
			return true;
	return false;
}
