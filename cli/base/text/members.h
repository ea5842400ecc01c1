/*
 * members.h: writes named values, as members of a JSON object or as fields of a
 * CSV line; the code that has the values need not know which. It must write the
 * same names in the same order each time; a missing value is written as none.
 */
#ifndef GNOMON_MEMBERS_H
#define GNOMON_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct json;

struct members {
	void (*text)(void *owner, const char *name, const char *value);
	void (*number)(void *owner, const char *name, uint64_t value);
	void (*flag)(void *owner, const char *name, bool value);
	void (*none)(void *owner, const char *name);
	void *owner;
};

/* The text may be NULL, which is not the same as none. */
static inline void members_text(const struct members *to, const char *name,
				const char *value)
{
	to->text(to->owner, name, value);
}

static inline void members_number(const struct members *to, const char *name,
				  uint64_t value)
{
	to->number(to->owner, name, value);
}

static inline void members_flag(const struct members *to, const char *name,
				bool value)
{
	to->flag(to->owner, name, value);
}

static inline void members_none(const struct members *to, const char *name)
{
	to->none(to->owner, name);
}

/* For the open object; leaves out members without a value. */
struct members members_of_json(struct json *json);

#endif
