/*
 * environment.c: see environment.h.
 *
 *	kernel's array    A B LD_PRELOAD=us:x GNOMON_OUTPUT=o C
 *	environ, shown    A B C LD_PRELOAD=x         a copy, from before main on
 *	passed to exec    A B C LD_PRELOAD=us:x GNOMON_OUTPUT=o
 *
 * The kernel's array is not changed: the auxiliary vector follows it, and is
 * found from its end. Programs that read the array there (Go's runtime) see our
 * variables, and pass them on.
 *
 * Variables that the program itself passes to a child are never replaced: one
 * of our variables that is there already, or an LD_PRELOAD that contains us,
 * stays. Nothing is added if our file cannot be opened (another root
 * directory). Our library is not added for a program for another processor: its
 * loader would print an error to the program's standard error.
 *
 * environ belongs to the C library and to the program, which change it without
 * a lock that we could take. environment_show replaces the array by a longer
 * copy, and environment_conceal restores the old one. If somebody has changed
 * the environment meanwhile, it removes our variables from the current array.
 * Our arrays are never freed: another thread may still read one.
 *
 * Overlapping calls share a copy. The number of its users is in the area:
 *
 *	free ──▶ 1 ◀──▶ 2 ◀──▶ …
 *	  ▲      └──▶ closing ──┐
 *	  └─────────────────────┘
 *
 * I1  All static data here is constant after environment_init, in forked
 *     children too, except what show and conceal use.
 * I2  A copy is removed from environ only while it is closing; a call that
 *     finds it there then replaces it by its own. So the array that a call was
 *     shown stays until the call ends, and no thread waits.
 */
#include "preload/process/environment.h"

#include <linux/limits.h>
#include <stdint.h>
#include <string.h>

#include "preload/base/options.h"
#include "preload/base/patch_format.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/base/ban.h"
#include "preload/process/exec_file.h"
#include "preload/ring/area.h"
#include "preload/ring/producer.h"

#define ENVIRONMENT_COPIES 8	/* copies shown at once */
#define ENVIRONMENT_PRELOAD "LD_PRELOAD="
#define ENVIRONMENT_PREFIX "GNOMON_"
#define ENVIRONMENT_DEBUG "GNOMON_DEBUG_"
#define ENVIRONMENT_SPARE 64	/* spare entries, so that a copy can be reused
				 * for long */
#define ENVIRONMENT_NO_POOLS 8	/* at least as many as exist */
#define ENVIRONMENT_OURS_MAX 64	/* variables; more are not passed on */

extern char **__environ __attribute__((weak));

/* Our part of LD_PRELOAD, "" if we were loaded in another way; and complete
 * variables. */
static const char *environment_library = "";
static const char *environment_ours[ENVIRONMENT_OURS_MAX];
static unsigned environment_count;
/* LD_PRELOAD without us; NULL: nothing remains. */
static const char *environment_rest;
static bool environment_taken;

/* The longer copies that show uses, and the arrays that they replace. */
static struct environment_copy {
	char **array, **saved;
	size_t max;		/* bytes */
} environment_copies[ENVIRONMENT_COPIES];
/* Users of each copy: a child has none. */
static _Atomic int32_t *environment_users;

enum { ENVIRONMENT_FREE = 0, ENVIRONMENT_CLOSING = -1 };

#define ENVIRONMENT_SHELL "/bin/sh"	/* started by system and popen */
#define ENVIRONMENT_TRIES 16	/* other threads may be faster repeatedly */

static bool environment_is(const char *entry, const char *name)
{
	return strncmp(entry, name, strlen(name)) == 0;
}

static bool environment_same_name(const char *a, const char *b)
{
	while (*a && *a == *b && *a != '=')
		a++, b++;
	return (*a == '=' || !*a) && (*b == '=' || !*b);
}

/* Whether it is a variable of ours; others have the same prefix. */
static bool environment_is_variable(const char *entry)
{
	unsigned id;

	if (!environment_is(entry, ENVIRONMENT_PREFIX))
		return false;
	if (environment_is(entry, ENVIRONMENT_DEBUG) ||
	    environment_same_name(entry, PATCH_VARIABLE) ||
	    environment_same_name(entry, OPTIONS_COMMAND) ||
	    environment_same_name(entry, OPTIONS_EMULATOR_ROOT))
		return true;
	for (id = 0; id < OPTION_COUNT; id++)
		if (environment_same_name(entry, options_table[id].variable))
			return true;
	return false;
}

static size_t environment_length(char *const *envp)
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

static bool environment_names(char *const *envp, const char *variable)
{
	for (; envp && *envp; envp++)
		if (environment_same_name(*envp, variable))
			return true;
	return false;
}

/* Length of the first element of a list like LD_PRELOAD. */
static size_t environment_element(const char *list)
{
	size_t n = 0;

	while (list[n] && list[n] != ':' && list[n] != ' ')
		n++;
	return n;
}

/* Whether an element is our file, by its path or its file name. */
static bool environment_is_us(const char *element, size_t n,
			      const char *library)
{
	const char *base = text_base_name(library, strlen(library));
	const char *last = text_base_name(element, n);
	size_t length = element + n - last;

	return n && strlen(base) == length && memcmp(base, last, length) == 0;
}

/* Where our element begins, NULL if it is not in the list. */
static const char *environment_find_us(const char *list, const char *library)
{
	while (*list) {
		size_t n = environment_element(list);

		if (environment_is_us(list, n, library))
			return list;
		list += n + (list[n] != '\0');
	}
	return NULL;
}

static char *environment_copy(char **to, const char *from, size_t n)
{
	char *start = *to;

	memcpy(start, from, n);
	start[n] = '\0';
	*to = start + n + 1;
	return start;
}

/* LD_PRELOAD without our element: the parts before and after it. */
static void environment_split(char **to, const char *list, const char *us)
{
	size_t n = environment_element(us);
	const char *behind = us + n + (us[n] != '\0');
	char *rest = *to;

	environment_library = environment_copy(to, us, n);
	rest = *to;
	memcpy(rest, ENVIRONMENT_PRELOAD, sizeof(ENVIRONMENT_PRELOAD) - 1);
	*to += sizeof(ENVIRONMENT_PRELOAD) - 1;
	/* removes the separator before us, if nothing follows */
	n = us - list;
	if (n && !*behind)
		n--;
	memcpy(*to, list, n);
	*to += n;
	environment_copy(to, behind, strlen(behind));
	if (rest[sizeof(ENVIRONMENT_PRELOAD) - 1])
		environment_rest = rest;
}

static void environment_take(char **to, const char *entry,
			     const char *library)
{
	const char *list = entry + sizeof(ENVIRONMENT_PRELOAD) - 1, *us;

	if (!environment_is(entry, ENVIRONMENT_PRELOAD)) {
		if (environment_count < ENVIRONMENT_OURS_MAX)
			environment_ours[environment_count++] =
				environment_copy(to, entry, strlen(entry));
		return;
	}
	us = environment_find_us(list, library);
	if (us && !environment_library[0])
		environment_split(to, list, us);
}

static bool environment_concerns(const char *entry)
{
	return environment_is_variable(entry) ||
	       environment_is(entry, ENVIRONMENT_PRELOAD);
}

void environment_init(char *const *environment, const char *library)
{
	size_t bytes = 0;
	char *const *at;
	char *to;

	for (at = environment; *at; at++)
		if (environment_concerns(*at))
			bytes += 2 * (strlen(*at) + 1);
	to = bytes ? sys_map_pages(bytes) : NULL;
	if (!to)
		return;
	for (at = environment; *at; at++)
		if (environment_concerns(*at))
			environment_take(&to, *at, library);
	environment_taken = true;
}

/* ---- the program's view ---- */

/* Whether this entry was added by environment_make, or was there from the
 * start. */
static bool environment_is_ours(const char *entry)
{
	unsigned i;

	for (i = 0; i < environment_count; i++)
		if (strcmp(entry, environment_ours[i]) == 0)
			return true;
	return false;
}

static bool environment_has_us(const char *entry)
{
	return environment_library[0] &&
	       environment_is(entry, ENVIRONMENT_PRELOAD) &&
	       environment_find_us(entry + sizeof(ENVIRONMENT_PRELOAD) - 1,
				   environment_library);
}

/* Copies `from` to `to` without our variables; both may be the same. */
static void environment_strip(char **to, char *const *from)
{
	for (; *from; from++) {
		if (environment_is_ours(*from))
			continue;
		if (!environment_has_us(*from))
			*to++ = *from;
		else if (environment_rest)
			*to++ = (char *)environment_rest;
	}
	*to = NULL;
}

/* --no-pools, for programs started without the command. Libraries that read
 * these variables in earlier constructors do not see them. */
static void environment_add_no_pools(char **envp)
{
	size_t n = environment_length(envp);
	unsigned i;

	if (!producer_options.number[OPTION_NO_POOLS])
		return;
	for (i = 0; options_no_pools[i]; i++)
		if (!environment_names(envp, options_no_pools[i]))
			envp[n++] = (char *)options_no_pools[i];
	envp[n] = NULL;
}

static char **environment_without(char *const *envp)
{
	char **copy = sys_map_pages((environment_length(envp) + 1 +
				     ENVIRONMENT_NO_POOLS) * sizeof(*copy));

	if (copy) {
		environment_strip(copy, envp);
		environment_add_no_pools(copy);
	}
	return copy;
}

char **environment_hide(char **envp)
{
	char **hidden;

	if (!environment_taken || !envp)
		return envp;
	hidden = environment_without(envp);
	if (!hidden)
		return envp;
	if (!&__environ || !__environ)
		return hidden;
	/* a constructor may have changed it */
	if (__environ != envp) {
		char **other = environment_without(__environ);

		if (other)
			__environ = other;
	} else {
		__environ = hidden;
	}
	return hidden;
}

/* ---- environments of other programs ---- */

static bool environment_follows(void)
{
	uint64_t follow = producer_options.number[OPTION_FOLLOW];

	return environment_taken && unwind_may(SECCOMP_NO_START) &&
	       (follow == OPTION_FOLLOW_EXEC || follow == OPTION_FOLLOW_ALL);
}

/* Whether our file can be opened; otherwise the loader would print an error. */
static bool environment_reachable(void)
{
	return environment_library[0] != '/' ||
	       arch_syscall3(__NR_faccessat, AT_FDCWD,
			     (long)environment_library, 4 /* R_OK */) == 0;
}

const char *environment_value(char *const *envp, const char *name)
{
	for (; envp && *envp; envp++)
		if (environment_is(*envp, name))
			return *envp + strlen(name);
	return NULL;
}

size_t environment_room(char *const *envp)
{
	const char *list;
	size_t n;

	if (!environment_follows() || !environment_reachable())
		return 0;
	n = (environment_length(envp) + environment_count + 2) *
	    sizeof(char *);
	list = environment_value(envp, ENVIRONMENT_PRELOAD);
	return n + sizeof(ENVIRONMENT_PRELOAD) + strlen(environment_library) +
	       (list ? strlen(list) : 0) + 2;
}

/* LD_PRELOAD=us:list */
static char *environment_join(char *to, const char *list)
{
	char *start = to;
	size_t n = strlen(environment_library);

	memcpy(to, ENVIRONMENT_PRELOAD, sizeof(ENVIRONMENT_PRELOAD) - 1);
	to += sizeof(ENVIRONMENT_PRELOAD) - 1;
	memcpy(to, environment_library, n);
	to += n;
	if (list && *list) {
		*to++ = ':';
		n = strlen(list);
		memcpy(to, list, n);
		to += n;
	}
	*to = '\0';
	return start;
}

char *const *environment_make(char *const *envp, void *room, size_t size,
			      bool foreign)
{
	size_t n = environment_length(envp) + environment_count + 2, k = 0;
	const char *list = environment_value(envp, ENVIRONMENT_PRELOAD);
	char **made = room;
	bool join = environment_library[0] && !foreign &&
		    (!list || !environment_find_us(list, environment_library));
	char *const *at;
	unsigned i;

	/* another thread has made it longer */
	if (size < environment_room(envp))
		return envp;
	for (at = envp; at && *at; at++) {
		if (join && environment_is(*at, ENVIRONMENT_PRELOAD)) {
			made[k++] = environment_join((char *)(made + n), list);
			join = false;
		} else {
			made[k++] = *at;
		}
	}
	if (join)
		made[k++] = environment_join((char *)(made + n), NULL);
	for (i = 0; i < environment_count; i++)
		if (!environment_names(envp, environment_ours[i]))
			made[k++] = (char *)environment_ours[i];
	made[k] = NULL;
	return made;
}

/* ---- for functions that take no environment ---- */

/* Whether the shown array without our variables equals the saved one. */
static bool environment_unchanged(char *const *shown, char *const *saved)
{
	for (; *shown; shown++) {
		if (environment_is_ours(*shown))
			continue;
		if (saved && *saved && (*shown == *saved ||
					environment_has_us(*shown)))
			saved++;
		else if (!environment_has_us(*shown))
			return false;
	}
	return !saved || !*saved;
}

static char **environment_now(void)
{
	return __atomic_load_n(&__environ, __ATOMIC_SEQ_CST);
}

static bool environment_exchange(char **from, char **to)
{
	return __atomic_compare_exchange_n(&__environ, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void environment_alloc(void)
{
	environment_users = area_place(ENVIRONMENT_COPIES *
				       sizeof(*environment_users));
}

/* The index of this copy; -1: not one of ours. */
static int environment_which(char **array)
{
	int i;

	for (i = 0; i < ENVIRONMENT_COPIES; i++)
		if (array && array == environment_copies[i].array)
			return i;
	return -1;
}

static bool environment_hold(int copy)
{
	int32_t users = atomic_load(&environment_users[copy]);

	while (users > 0)
		if (atomic_compare_exchange_weak(&environment_users[copy],
						 &users, users + 1))
			return true;
	return false;
}

static bool environment_shows(char *const *envp)
{
	for (; envp && *envp; envp++)
		if (environment_is_ours(*envp) || environment_has_us(*envp))
			return true;
	return false;
}

static void environment_close(struct environment_copy *copy)
{
	char **now = environment_now();

	if (now == copy->array &&
	    environment_unchanged(copy->array, copy->saved)) {
		environment_exchange(copy->array, copy->saved);
		return;
	}
	if (now != copy->array && environment_which(now) >= 0)
		return;
	if (environment_shows(now))
		environment_strip(now, now);
	/* if still in use, it belongs to the program now */
	if (now == copy->array) {
		copy->array = NULL;
		copy->max = 0;
	}
}

static void environment_release(int copy)
{
	int32_t users = atomic_load(&environment_users[copy]), left;

	do {
		left = users > 1 ? users - 1 : ENVIRONMENT_CLOSING;
	} while (!atomic_compare_exchange_weak(&environment_users[copy], &users,
					       left));
	if (left != ENVIRONMENT_CLOSING)
		return;
	environment_close(&environment_copies[copy]);
	atomic_store(&environment_users[copy], ENVIRONMENT_FREE);
}

/* Claims a free copy, other than `other`, with enough room; -1: none. */
static int environment_claim(size_t need, int other)
{
	int i;

	for (i = 0; i < ENVIRONMENT_COPIES; i++) {
		struct environment_copy *copy = &environment_copies[i];
		int32_t users = ENVIRONMENT_FREE;

		if (i == other ||
		    !atomic_compare_exchange_strong(&environment_users[i],
						    &users, 1))
			continue;
		if (copy->max < need) {
			need += ENVIRONMENT_SPARE * sizeof(char *);
			copy->array = sys_map_pages(need);
			copy->max = copy->array ? need : 0;
		}
		if (copy->array)
			return i;
		atomic_store(&environment_users[i], ENVIRONMENT_FREE);
		return -1;
	}
	return -1;
}

/* Shows a copy of `now`, which may be a closing copy itself. -1: environ was
 * changed in between, or there is no memory. */
static int environment_put(char **now, int closing)
{
	int i = environment_claim(environment_room(now), closing);
	struct environment_copy *copy;
	char **made;
	bool shell;

	if (i < 0)
		return -1;
	copy = &environment_copies[i];
	shell = exec_file_foreign(AT_FDCWD, ENVIRONMENT_SHELL);
	copy->saved = closing < 0 ? now : environment_copies[closing].saved;
	made = (char **)environment_make(now, copy->array, copy->max, shell);
	if (made != now && environment_exchange(now, made))
		return i;
	environment_release(i);
	return -1;
}

int environment_show(void)
{
	unsigned tries;

	if (!&__environ || !environment_users || !environment_room(__environ))
		return -1;
	for (tries = 0; tries < ENVIRONMENT_TRIES; tries++) {
		char **now = environment_now();
		int copy = environment_which(now);

		if (copy < 0 || !environment_hold(copy)) {
			copy = environment_put(now, copy);
			if (copy >= 0)
				return copy;
		} else if (environment_now() == now) {
			return copy;
		} else {
			environment_release(copy);
		}
	}
	return -1;
}

void environment_conceal(int copy)
{
	if (copy >= 0)
		environment_release(copy);
}
