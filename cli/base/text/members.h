/*
 * members.h: named values on their way to wherever they are written, as members
 * of a JSON object or as fields of a CSV line: who has them need not know which.
 * The same ones come in the same order each time; one that there is none of is
 * told as that.
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

/* A text may be NULL, which is not the same as none. */
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

/* Of the object that is open; of which there is none are left out. */
struct members members_of_json(struct json *json);

#endif
