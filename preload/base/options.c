/*
 * options.c: the table of recording options, and parsers of their values.
 *
 * Called by the thread that starts the recorder, and by the command. Allocates
 * nothing; texts are copied into struct options, because a program may
 * overwrite its own environment (to change its title in ps).
 */
#include "preload/base/options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "unwind/base/assertion.h"

#define OPTIONS_PREFIX "GNOMON_"
#define OPTIONS_ORACLE "GNOMON_DEBUG_ORACLE"
#define OPTIONS_BARRIER "GNOMON_DEBUG_BARRIER"
#define OPTIONS_SEED "GNOMON_DEBUG_SEED"
#define OPTIONS_BARRIER_MAX 1000

const struct option_entry options_table[OPTION_COUNT] = {
#define OPTIONS_ENTRY(id, type, words, fallback) \
	[OPTION_##id] = { OPTIONS_PREFIX #id, type, words, fallback },
	OPTIONS(OPTIONS_ENTRY)
#undef OPTIONS_ENTRY
};

/* Bounds of a numeric option, in bytes, ns or as it is. */
static const struct options_bound {
	enum option_id id;
	uint64_t least, most;
} options_bounds[] = {
	{ OPTION_MEMORY, OPTIONS_MEMORY_MIN, UINT64_C(64) << 30 },
	{ OPTION_RING, OPTIONS_RING_MIN, OPTIONS_RING_MAX },
	{ OPTION_SAMPLE, 0, UINT32_MAX },	/* sampler.h */
	{ OPTION_DEPTH, 0, OPTIONS_DEPTH_MAX },
	{ OPTION_SNAPSHOT_EVERY, OPTIONS_SNAPSHOT_MIN, OPTIONS_TIME_MAX },
	{ OPTION_GUARD, 0, 1 << 20 },
	{ OPTION_CULL_PENDING, 64, 1 << 20 },
	{ OPTION_LIMIT, 1 << 20, UINT64_MAX },
	{ OPTION_STATS_EVERY, UINT64_C(10) * 1000000, OPTIONS_TIME_MAX },
};

const char *const options_no_pools[] = {
	"GLIBCXX_FORCE_NEW=1", "PYTHONMALLOC=malloc", "G_SLICE=always-malloc",
	NULL
};

static int options_suffix(const char *text, uint64_t *scale)
{
	static const char letters[] = "kmgt";
	unsigned i;

	*scale = 1;
	if (!*text)
		return 0;
	for (i = 0; letters[i]; i++) {
		if ((*text | 0x20) != letters[i])
			continue;
		*scale = UINT64_C(1) << (10 * (i + 1));
		text++;
		if ((*text | 0x20) == 'i' && (text[1] | 0x20) == 'b')
			text += 2;
		else if ((*text | 0x20) == 'b')
			text++;
		return *text ? -EINVAL : 0;
	}
	return -EINVAL;
}

int options_number(const char **text, uint64_t *whole, uint64_t *part)
{
	const char *at = *text;
	uint64_t unit = 100000;

	*whole = *part = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (*whole > UINT64_MAX / 10 - 10)
			return -EINVAL;
		*whole = *whole * 10 + (*at - '0');
	}
	if (at == *text)
		return -EINVAL;
	if (*at == '.') {
		/* six places are more than a size or a time needs */
		for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10)
			*part += (*at - '0') * unit;
	}
	*text = at;
	return 0;
}

/* *value = whole.part times scale. */
static int options_scale(uint64_t whole, uint64_t part, uint64_t scale,
			 uint64_t *value)
{
	DEBUG_ASSERT(scale > 0);
	if (whole > UINT64_MAX / scale - 1)
		return -EINVAL;
	/* in two steps, to avoid an overflow */
	*value = whole * scale + part * (scale / 1000000) +
		 part * (scale % 1000000) / 1000000;
	return 0;
}

int options_size(const char *text, uint64_t *bytes)
{
	uint64_t whole, part, scale;

	if (options_number(&text, &whole, &part) ||
	    options_suffix(text, &scale))
		return -EINVAL;
	return options_scale(whole, part, scale, bytes);
}

static const struct {
	const char *name;
	uint64_t ns;
} options_units[] = {
	/* a name before its own prefixes */
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "min", UINT64_C(60) * 1000000000 },
	{ "s", UINT64_C(1000000000) },
	{ "m", UINT64_C(60) * 1000000000 },
	{ "h", UINT64_C(3600) * 1000000000 },
	{ "d", UINT64_C(86400) * 1000000000 },
};

/* The unit at *text, and moves *text behind it; 0: none. */
static uint64_t options_unit(const char **text)
{
	unsigned i;

	for (i = 0; i < sizeof(options_units) / sizeof(*options_units); i++) {
		size_t n = strlen(options_units[i].name);

		if (strncmp(*text, options_units[i].name, n) != 0)
			continue;
		*text += n;
		return options_units[i].ns;
	}
	return 0;
}

int options_time(const char *text, uint64_t *ns)
{
	uint64_t sum = 0;

	if (strcmp(text, "none") == 0)
		text = "0s";
	do {
		uint64_t whole, part, unit, value;

		if (options_number(&text, &whole, &part))
			return -EINVAL;
		unit = options_unit(&text);
		if (!unit || options_scale(whole, part, unit, &value) ||
		    sum > UINT64_MAX - value)
			return -EINVAL;
		sum += value;
	} while (*text);
	*ns = sum;
	return 0;
}

static int options_choice(const char *words, const char *value,
			  uint64_t *index)
{
	size_t length = strlen(value);
	uint64_t i;

	for (i = 0;; i++) {
		size_t n = 0;

		while (words[n] && words[n] != '|')
			n++;
		if (n == length && memcmp(words, value, n) == 0) {
			*index = i;
			return 0;
		}
		if (!words[n])
			return -EINVAL;
		words += n + 1;
	}
}

static int options_limits(enum option_id id, uint64_t number)
{
	const struct option_entry *entry = &options_table[id];
	uint64_t least = 0, most = UINT64_MAX;
	unsigned i;

	if (!number && strcmp(entry->fallback, "none") == 0)
		return 0;
	if (entry->type == OPTION_TIME)
		most = OPTIONS_TIME_MAX;
	for (i = 0; i < sizeof(options_bounds) / sizeof(*options_bounds); i++)
		if (options_bounds[i].id == id) {
			least = options_bounds[i].least;
			most = options_bounds[i].most;
		}
	return number < least || number > most ? -ERANGE : 0;
}

static int options_keep(struct options *options, enum option_id id,
			const char *value)
{
	size_t length = strlen(value);

	if (length >= OPTIONS_TEXT_MAX ||
	    length >= OPTIONS_TEXTS - options->texts_used)
		return -ERANGE;
	memcpy(options->texts + options->texts_used, value, length + 1);
	options->text_at[id] = options->texts_used;
	options->texts_used += length + 1;
	return 0;
}

static int options_whole(const char *text, uint64_t *number)
{
	uint64_t part;

	if (options_number(&text, number, &part) || *text || part)
		return -EINVAL;
	return 0;
}

/* A word instead of a number, such as "none". */
static bool options_said(enum option_id id, const char *value,
			 uint64_t *number)
{
	const char *fallback = options_table[id].fallback;

	if ((*fallback >= '0' && *fallback <= '9') ||
	    strcmp(value, fallback) != 0)
		return false;
	*number = strcmp(value, "none") == 0 ? 0 : UINT64_MAX;
	return true;
}

static int options_measure(enum option_id id, const char *value,
			   uint64_t *number)
{
	int err = 0;

	switch (options_table[id].type) {
	case OPTION_SIZE:
		err = options_size(value, number);
		break;
	case OPTION_TIME:
		err = options_time(value, number);
		break;
	default:
		err = options_whole(value, number);
		break;
	}
	return err ? err : options_limits(id, *number);
}

static int options_store(struct options *options, enum option_id id,
			 const char *value)
{
	const struct option_entry *entry = &options_table[id];
	uint64_t number = 0;
	int err = 0;

	switch (entry->type) {
	case OPTION_TEXT:
	case OPTION_PATH:
	case OPTION_LIST:
		return options_keep(options, id, value);
	case OPTION_SIZE:
	case OPTION_TIME:
	case OPTION_NUMBER:
		if (!options_said(id, value, &number))
			err = options_measure(id, value, &number);
		break;
	case OPTION_CHOICE:
		err = options_choice(entry->words, value, &number);
		break;
	case OPTION_SWITCH:
		err = options_choice("0|1", value, &number);
		break;
	}
	if (!err)
		options->number[id] = number;
	return err;
}

void options_default(struct options *options)
{
	unsigned id;

	/* only the used part of the texts is touched */
	memset(options, 0, offsetof(struct options, texts) + 1);
	options->texts_used = 1;	/* after the empty text */
	for (id = 0; id < OPTION_COUNT; id++)
		options_store(options, id, options_table[id].fallback);
}

int options_set(struct options *options, enum option_id id, const char *value)
{
	int err = options_store(options, id, value);

	if (!err)
		options->given[id] = true;
	return err;
}

/* The value if the variable is `name`, else NULL. */
static const char *options_value(const char *text, const char *name)
{
	size_t n = strlen(name);

	return strncmp(text, name, n) == 0 && text[n] == '=' ? text + n + 1 :
							       NULL;
}

static int options_one(struct options *options, const char *text)
{
	const char *value;
	unsigned id;

	for (id = 0; id < OPTION_COUNT; id++) {
		value = options_value(text, options_table[id].variable);
		if (value)
			return options_set(options, id, value);
	}
	return 0;
}

/* Switches for tests, which the command does not have. */
static int options_debug(struct options *options, const char *text)
{
	const char *value = options_value(text, OPTIONS_ORACLE);
	uint64_t number = 0;

	if (value && (options_whole(value, &number) || number > UINT32_MAX))
		return -EINVAL;
	if (value)
		options->oracle = (uint32_t)number;
	value = options_value(text, OPTIONS_SEED);
	if (value)
		return options_whole(value, &options->seed);
	value = options_value(text, OPTIONS_BARRIER);
	if (!value)
		return 0;
	if (options_whole(value, &number) || number == 0)
		return -EINVAL;
	if (number > OPTIONS_BARRIER_MAX)
		return -ERANGE;
	options->barrier_near = (uint32_t)number;
	return 0;
}

int options_environment(struct options *options, char *const *environment,
			const char **bad)
{
	for (; *environment; environment++) {
		const char *text = *environment;
		int err;

		if (strncmp(text, OPTIONS_PREFIX,
			    sizeof(OPTIONS_PREFIX) - 1) != 0)
			continue;
		err = options_debug(options, text);
		if (!err)
			err = options_one(options, text);
		if (err) {
			*bad = text;
			return err;
		}
	}
	return 0;
}

int options_descriptor(const char *output)
{
	static const char *const prefixes[] = { "/dev/fd/", "/proc/self/fd/" };
	unsigned i;

	if (strcmp(output, "/dev/stdout") == 0 || strcmp(output, "-") == 0)
		return 1;
	if (strcmp(output, "/dev/stderr") == 0)
		return 2;
	for (i = 0; i < 2; i++) {
		size_t n = strlen(prefixes[i]);
		const char *number = output + n;
		uint64_t fd = 0;

		if (strncmp(output, prefixes[i], n) != 0 || !*number)
			continue;
		for (; *number >= '0' && *number <= '9' && fd < INT32_MAX;
		     number++)
			fd = fd * 10 + (uint64_t)(*number - '0');
		if (!*number && fd < INT32_MAX)
			return (int)fd;
	}
	return -1;
}
