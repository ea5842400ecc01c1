/*
 * ownership.c: see ownership.h. The main thread.
 */
#include "cli/run/ownership.h"

#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define KEEP UINT32_MAX		/* do not change this id */

/* A number and nothing else. */
static bool is_number(const char *text, uint32_t *id)
{
	unsigned long long number;

	if (text[0] == 0 || text[strspn(text, "0123456789")] != 0 ||
	    strlen(text) > 10)
		return false;
	number = strtoull(text, NULL, 10);
	*id = (uint32_t)number;
	return number < KEEP;
}

static bool find_user(const char *name, uint32_t *user, uint32_t *group)
{
	const struct passwd *found;

	if (name[0] == 0 || is_number(name, user))
		return true;
	found = getpwnam(name);
	if (found == NULL)
		return false;
	*user = found->pw_uid;
	*group = found->pw_gid;
	return true;
}

static bool find_group(const char *name, uint32_t *group)
{
	const struct group *found;

	if (is_number(name, group))
		return true;
	found = getgrnam(name);
	if (found != NULL)
		*group = found->gr_gid;
	return found != NULL;
}

static void print(uint32_t user, uint32_t group, char text[OWNERSHIP_TEXT])
{
	int n = 0;

	text[0] = 0;
	if (user != KEEP)
		n = snprintf(text, OWNERSHIP_TEXT, "%u", user);
	if (group != KEEP)
		snprintf(text + n, OWNERSHIP_TEXT - (size_t)n, ":%u", group);
}

bool ownership_find(const char *text, char numbers[OWNERSHIP_TEXT])
{
	uint32_t user = KEEP, group = KEEP;
	char *name = grow_copy(text, strlen(text));
	char *colon = strchr(name, ':');
	bool found;

	if (colon != NULL)
		*colon++ = 0;
	found = (name[0] != 0 || colon != NULL) &&
		find_user(name, &user, &group) &&
		(colon == NULL || find_group(colon, &group));
	free(name);
	if (found)
		print(user, group, numbers);
	return found;
}
