/*
 * file_owner.c: see file_owner.h. Parses passwd(5) and group(5) files directly:
 * the C library's functions would load NSS modules, which a static program
 * cannot.
 */
#include "cli/recorder/process/file_owner.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/result.h"
#include "cli/recorder/base/proc_lines.h"
#include "cli/recorder/base/recording.h"
#include "preload/base/base.h"

#define FILE_OWNER_BUFFER 4096
#define FILE_OWNER_NAME_MAX 256

/* A number and nothing else. */
static bool file_owner_number(const char *text, uint32_t *id)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	/* neither blanks nor a sign */
	if (!isdigit((unsigned char)*text) || *end || number >= FILE_OWNER_KEEP)
		return false;
	*id = number;
	return true;
}

/* The n-th field of a line, from 0; NULL: it has fewer. */
static const char *file_owner_field(const char *line, unsigned n)
{
	for (; n && line; n--) {
		line = strchr(line, ':');
		line += line != NULL;
	}
	return line;
}

static bool file_owner_is(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 && line[n] == ':';
}

/* Looks up a line name:x:id:… ; `group`, if not NULL: also the user's group. */
static bool file_owner_look_up(const char *file, const char *name, uint32_t *id,
			       uint32_t *group)
{
	char buffer[FILE_OWNER_BUFFER], *line;
	struct proc_lines lines;
	bool found = false;

	if (proc_lines_open(&lines, file, buffer, sizeof(buffer)))
		return false;
	while (!found && (line = proc_lines_next(&lines))) {
		const char *at = file_owner_is(line, name)
					 ? file_owner_field(line, 2)
					 : NULL;

		if (!at)
			continue;
		*id = strtoull(at, NULL, 10);
		at = group ? file_owner_field(line, 3) : NULL;
		if (at)
			*group = strtoull(at, NULL, 10);
		found = true;
	}
	proc_lines_close(&lines);
	return found;
}

bool file_owner_find(struct file_owner *owner, const char *text,
		     const char *passwd, const char *group)
{
	char name[FILE_OWNER_NAME_MAX];
	size_t n = base_min(strcspn(text, ":"), sizeof(name) - 1);

	owner->user = owner->group = FILE_OWNER_KEEP;
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	if (n && !file_owner_number(name, &owner->user) &&
	    !file_owner_look_up(passwd, name, &owner->user, &owner->group))
		return false;
	if (!text[n])
		return n != 0;
	if (text[n] != ':')
		return false;	/* longer than any name */
	text += n + 1;
	return file_owner_number(text, &owner->group) ||
	       file_owner_look_up(group, text, &owner->group, NULL);
}

long file_owner_apply(int fd)
{
	const char *text = options_text(recording_options, OPTION_CHOWN);
	struct file_owner owner;

	if (!*text || fd < 0)
		return 0;
	if (!file_owner_find(&owner, text, "/etc/passwd", "/etc/group"))
		return -ENOENT;
	return result_of(fchown(fd, owner.user, owner.group));
}
