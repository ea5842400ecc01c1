/*
 * owner.c: see owner.h. Parses passwd(5) and group(5) files directly: the C
 * library's functions would load NSS modules, which a static program cannot.
 */
#include "cli/recorder/process/owner.h"

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

#define OWNER_BUFFER 4096
#define OWNER_NAME_MAX 256

/* A number and nothing else. */
static bool owner_number(const char *text, uint32_t *id)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	/* neither blanks nor a sign */
	if (!isdigit((unsigned char)*text) || *end || number >= OWNER_KEEP)
		return false;
	*id = number;
	return true;
}

/* The n-th field of a line, from 0; NULL: it has fewer. */
static const char *owner_field(const char *line, unsigned n)
{
	for (; n && line; n--) {
		line = strchr(line, ':');
		line += line != NULL;
	}
	return line;
}

static bool owner_is(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 && line[n] == ':';
}

/* Looks up a line name:x:id:… ; `group`, if not NULL: also the user's group. */
static bool owner_look_up(const char *file, const char *name, uint32_t *id,
			  uint32_t *group)
{
	char buffer[OWNER_BUFFER], *line;
	struct proc_lines lines;
	bool found = false;

	if (proc_lines_open(&lines, file, buffer, sizeof(buffer)))
		return false;
	while (!found && (line = proc_lines_next(&lines))) {
		const char *at = owner_is(line, name) ? owner_field(line, 2) :
							NULL;

		if (!at)
			continue;
		*id = strtoull(at, NULL, 10);
		at = group ? owner_field(line, 3) : NULL;
		if (at)
			*group = strtoull(at, NULL, 10);
		found = true;
	}
	proc_lines_close(&lines);
	return found;
}

bool owner_find(struct owner *owner, const char *text, const char *passwd,
		const char *group)
{
	char name[OWNER_NAME_MAX];
	size_t n = base_min(strcspn(text, ":"), sizeof(name) - 1);

	owner->user = owner->group = OWNER_KEEP;
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	if (n && !owner_number(name, &owner->user) &&
	    !owner_look_up(passwd, name, &owner->user, &owner->group))
		return false;
	if (!text[n])
		return n != 0;
	if (text[n] != ':')
		return false;	/* longer than any name */
	text += n + 1;
	return owner_number(text, &owner->group) ||
	       owner_look_up(group, text, &owner->group, NULL);
}

long owner_apply(int fd)
{
	const char *text = options_text(recording_options, OPTION_CHOWN);
	struct owner owner;

	if (!*text || fd < 0)
		return 0;
	if (!owner_find(&owner, text, "/etc/passwd", "/etc/group"))
		return -ENOENT;
	return result_of(fchown(fd, owner.user, owner.group));
}
