/*
 * fuzz_options.c: what people, scripts and requests write: command lines,
 * words of filters, variables of the environment, sizes, times, expressions.
 * The first byte chooses; arguments are separated by newlines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/pattern.h"
#include "cli/base/text/quantity.h"
#include "cli/commands.h"
#include "cli/model/filters.h"
#include "preload/base/options.h"
#include "tests/unit/filter_words.h"

#define ARGUMENTS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct filter *filter;

/* Only the words of filters are understood; what other options mean is each
 * command's own, and runs with files. */
static int take(void *owner, int id, const char *value)
{
	(void)owner;
	if (filter_is_option(id))
		return filter_take(filter, id, value);
	if (value != NULL && strlen(value) % 7 == 0)
		return -34;
	return 0;
}

static void parse_line(unsigned which, char **argv, int argc)
{
	const struct command *const commands[] = {
		&cmd_report, &cmd_info, cmd_run_command(), &cmd_check,
		&cmd_diff, &cmd_annotate, &cmd_strip, &cmd_extract,
	};
	int operands, status;

	filter = filter_new(NULL);
	command_parse(commands[which % 8], argc, argv, take, NULL, &operands,
		      &status);
	filter_free(filter);
}

static void parse_words(char **words, int count)
{
	filter = filter_new(NULL);
	for (int i = 0; i + 1 < count; i += 2)
		filter_take_word(filter, words[i], words[i + 1]);
	filter_has_blocks(filter);
	filter_free(filter);
}

static void parse_values(const char *text, const char *other)
{
	char shown[QUANTITY_TEXT], why[256];
	struct pattern *pattern = pattern_new(text, why, sizeof(why));
	uint64_t number;
	double percent;

	if (pattern != NULL)
		pattern_matches(pattern, other);
	pattern_free(pattern);
	if (quantity_parse_size(text, &number) == 0)
		quantity_size(shown, (int64_t)number);
	if (quantity_parse_time(text, &number) == 0)
		quantity_time(shown, number);
	if (quantity_parse_count(text, &number) == 0)
		quantity_count(shown, number);
	quantity_parse_growth(text, &percent);
	options_size(text, &number);
	options_time(text, &number);
}

static void parse_environment(char **list)
{
	static struct options options;
	const char *bad;

	options_default(&options);
	options_environment(&options, list, &bad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *list[ARGUMENTS_MAX + 2] = { (char *)"gnomon" }, *text, *next;
	int count = 1;

	if (size < 1)
		return 0;
	if (freopen("/dev/null", "w", stdout) == NULL)
		abort();
	log_set_quiet(true);
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	for (next = text; next != NULL && count < ARGUMENTS_MAX; ) {
		list[count++] = strsep(&next, "\n");
	}
	if (data[0] % 4 == 0)
		parse_line(data[0] / 4, list, count);
	else if (data[0] % 4 == 1)
		parse_words(list + 1, count - 1);
	else if (data[0] % 4 == 2)
		parse_environment(list + 1);
	else
		parse_values(list[1], count > 2 ? list[2] : list[1]);
	free(text);
	return 0;
}
