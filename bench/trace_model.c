/*
 * trace_model.c: see trace_model.h. One thread.
 */
#include "bench/trace_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 8192
#define LINE_COLUMNS 64

static const char *const number_words[MODEL_NUMBERS] = {
	[MODEL_EVENTS] = "events",
	[MODEL_ALLOCATIONS] = "allocations",
	[MODEL_CONTEXTS] = "contexts",
	[MODEL_CONTEXTS_HALF] = "contexts-half",
	[MODEL_ADDRESSES] = "addresses",
	[MODEL_FOREVER] = "forever",
	[MODEL_SAME_SIZE] = "same-size",
	[MODEL_REALLOCS] = "reallocs",
	[MODEL_IN_PLACE] = "in-place",
};

static const char *const spread_words[MODEL_SPREADS] = {
	[MODEL_TICKS] = "ticks",
	[MODEL_DEPTH] = "depth",
	[MODEL_FRESH] = "fresh",
	[MODEL_RECENT] = "recent",
	[MODEL_SIZE] = "size",
	[MODEL_LIFETIME] = "lifetime",
};

static unsigned bucket_of(uint64_t value)
{
	unsigned log;

	if (value < 8)
		return (unsigned)value;
	log = 63 - (unsigned)__builtin_clzll(value);
	return 8 + (log - 3) * 4 + (value >> (log - 2) & 3);
}

static uint64_t bucket_first(unsigned bucket)
{
	unsigned log = 3 + (bucket - 8) / 4;

	if (bucket < 8)
		return bucket;
	return (UINT64_C(4) + (bucket & 3)) << (log - 2);
}

static uint64_t bucket_width(unsigned bucket)
{
	return bucket < 8 ? 1 : UINT64_C(1) << (1 + (bucket - 8) / 4);
}

void spread_add(struct spread *spread, uint64_t value)
{
	spread->count[bucket_of(value)]++;
	spread->total++;
}

/* Each bucket gets 1/BUCKETS of all draws: those with less than their share
 * give the rest of it to one with more. */
void spread_prepare(struct spread *spread)
{
	double weight[SPREAD_BUCKETS];
	uint16_t small[SPREAD_BUCKETS], large[SPREAD_BUCKETS];
	unsigned smalls = 0, larges = 0;

	for (unsigned i = 0; i < SPREAD_BUCKETS; i++) {
		spread->keep[i] = UINT32_MAX;
		spread->other[i] = (uint16_t)i;
		weight[i] = (double)spread->count[i] * SPREAD_BUCKETS /
			(spread->total ? (double)spread->total : 1);
		if (weight[i] < 1)
			small[smalls++] = (uint16_t)i;
		else
			large[larges++] = (uint16_t)i;
	}
	while (smalls > 0 && larges > 0) {
		unsigned from = small[--smalls], to = large[larges - 1];

		spread->keep[from] = (uint32_t)(weight[from] * 4294967295.0);
		spread->other[from] = (uint16_t)to;
		weight[to] -= 1 - weight[from];
		if (weight[to] >= 1)
			continue;
		larges--;
		small[smalls++] = (uint16_t)to;
	}
}

uint64_t spread_draw(const struct spread *spread, uint64_t *random)
{
	uint64_t bits = spread_random(random);
	unsigned bucket = (unsigned)((bits >> 32) * SPREAD_BUCKETS >> 32);
	uint64_t width;

	if (spread->total == 0)
		return 0;
	if ((uint32_t)bits > spread->keep[bucket])
		bucket = spread->other[bucket];
	width = bucket_width(bucket);
	if (width == 1)
		return bucket_first(bucket);
	return bucket_first(bucket) + (spread_random(random) & (width - 1));
}

double spread_mean(const struct spread *spread)
{
	double sum = 0;

	for (unsigned i = 0; i < SPREAD_BUCKETS; i++)
		sum += (double)spread->count[i] *
			((double)bucket_first(i) +
			 ((double)bucket_width(i) - 1) / 2);
	return spread->total ? sum / (double)spread->total : 0;
}

static void print_spread(const struct spread *spread, const char *word,
			 FILE *out)
{
	int column = fprintf(out, "%s", word);

	for (unsigned i = 0; i < SPREAD_BUCKETS; i++) {
		if (spread->count[i] == 0)
			continue;
		if (column > LINE_COLUMNS)
			column = fprintf(out, "\n%s", word);
		column += fprintf(out, " %" PRIu64 ":%" PRIu64,
				  bucket_first(i), spread->count[i]);
	}
	putc('\n', out);
}

void trace_model_print(const struct trace_model *model, FILE *out)
{
	for (int i = 0; i < MODEL_NUMBERS; i++)
		fprintf(out, "%s %" PRIu64 "\n", number_words[i],
			model->number[i]);
	for (int i = 0; i < MODEL_SPREADS; i++)
		print_spread(&model->spread[i], spread_words[i], out);
}

static int parse_spread(struct spread *spread, char *text)
{
	while (*text == ' ') {
		uint64_t value = strtoull(text, &text, 10), count;

		if (*text++ != ':')
			return -1;
		count = strtoull(text, &text, 10);
		spread->count[bucket_of(value)] += count;
		spread->total += count;
	}
	return *text == '\n' ? 0 : -1;
}

static int parse_line(struct trace_model *model, char *line)
{
	size_t size = strcspn(line, " \n");
	char *end;

	if (line[0] == '#' || line[0] == '\n')
		return 0;
	for (int i = 0; i < MODEL_SPREADS; i++)
		if (strlen(spread_words[i]) == size &&
		    memcmp(line, spread_words[i], size) == 0)
			return parse_spread(&model->spread[i], line + size);
	for (int i = 0; i < MODEL_NUMBERS; i++)
		if (strlen(number_words[i]) == size &&
		    memcmp(line, number_words[i], size) == 0) {
			model->number[i] = strtoull(line + size, &end, 10);
			return *end == '\n' ? 0 : -1;
		}
	return -1;
}

int trace_model_parse(struct trace_model *model, FILE *in)
{
	static char line[LINE_MAX_BYTES];
	int number = 0;

	memset(model, 0, sizeof(*model));
	while (fgets(line, sizeof(line), in) != NULL) {
		number++;
		if (parse_line(model, line) != 0)
			return number;
	}
	for (int i = 0; i < MODEL_SPREADS; i++)
		spread_prepare(&model->spread[i]);
	/* What would be divided by. */
	return model->number[MODEL_ALLOCATIONS] > 0 &&
		model->number[MODEL_CONTEXTS] > 0 ? 0 : number + 1;
}
