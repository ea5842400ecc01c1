/*
 * members.c: see members.h. Called by any thread.
 */
#include "cli/base/text/members.h"

#include "cli/base/text/json.h"

static void put_text(void *owner, const char *name, const char *value)
{
	json_string(owner, name, value);
}

static void put_number(void *owner, const char *name, uint64_t value)
{
	json_uint(owner, name, value);
}

static void put_flag(void *owner, const char *name, bool value)
{
	json_bool(owner, name, value);
}

static void put_none(void *owner, const char *name)
{
	(void)owner;
	(void)name;
}

struct members members_of_json(struct json *json)
{
	return (struct members){
		put_text, put_number, put_flag, put_none, json,
	};
}
