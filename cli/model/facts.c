/*
 * facts.c: facts about the recording as a whole: its keys, its times, how the
 * program ended.
 *
 * Called by the main thread, after reading.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quote.h"
#include "cli/model/model_state.h"
#include "cli/model/stats/figures.h"
#include "unwind/base/assertion.h"

#define PAGE_SIZE_DEFAULT 4096
#define PAGE_SIZE_MAX 0x1000000	/* larger values are taken as unknown */

/* Keys are interned, so a key's pointer identifies it. */
static uint64_t index_key(unsigned type, const char *key)
{
	return (uint64_t)(uintptr_t)key << 8 | (type & 0xff);
}

void model_set_fact(struct model *model, unsigned type, const char *key,
		    const char *value)
{
	uint64_t at = index_key(type, intern_string(&model->names, key));
	uint32_t number = table_number(&model->fact_index, at,
				       model->fact_count);

	DEBUG_ASSERT(number <= model->fact_count);
	if (number == model->fact_count) {
		GROW(model->facts, model->fact_count, model->fact_capacity);
		model->facts[model->fact_count++] = (struct fact){
			.type = type, .key = intern_known(&model->names, key),
		};
	}
	model->facts[number].value = intern_string(&model->names, value);
}

const char *model_fact(const struct model *model, unsigned type,
		       const char *key)
{
	const char *known = intern_known(&model->names, key);
	uint32_t number = known == NULL ? TABLE_NONE :
		table_get(&model->fact_index, index_key(type, known));

	DEBUG_ASSERT(number == TABLE_NONE || number < model->fact_count);
	return number == TABLE_NONE ? NULL : model->facts[number].value;
}

const struct fact *model_facts(const struct model *model, size_t *count)
{
	*count = model->fact_count;
	return model->facts;
}

struct elf_kind model_kind(const struct model *model)
{
	return elf_kind_named(model_fact(model, GT_INFO, "arch"),
			      model_number(model, GT_INFO, "word_bytes", 8),
			      model_fact(model, GT_INFO, "byte_order"));
}

enum model_made_up model_made_up(const struct model *model)
{
	const char *what = model_fact(model, GT_INFO, "anonymized");

	return what == NULL ? MODEL_GENUINE : strcmp(what, "names") == 0 ?
		MODEL_NAMES : MODEL_NAMES_AND_BUILD_IDS;
}

void model_command(const struct model *model, struct buffer *text)
{
	const char *words = model_fact(model, GT_INFO, "command");

	if (words != NULL)
		quote_list(text, words, strlen(words), RECORDS_NUL);
}

uint64_t model_number(const struct model *model, unsigned type,
		      const char *key, uint64_t fallback)
{
	const char *value = model_fact(model, type, key);

	return value != NULL ? strtoull(value, NULL, 10) : fallback;
}

uint64_t model_page_size(const struct model *model)
{
	uint64_t size = model_number(model, GT_INFO, "page_size", 0);

	return size > 0 && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0 ?
		size : PAGE_SIZE_DEFAULT;
}

bool model_has_freed_by(const struct model *model)
{
	return model_number(model, GT_INFO, "free_stacks", 0) != 0;
}

uint64_t model_peak_stamp(const struct model *model)
{
	return model->omitted.kept_peak_stamp != 0 ?
		model->omitted.kept_peak_stamp : model->totals.peak_stamp;
}

bool model_peak_is_shared(const struct model *model)
{
	struct figures figures;

	if (model->totals.peak_bytes == 0)
		return true;
	for (size_t i = 0; i < model->contexts.cost_count; i++) {
		model_figures(model, &model->contexts.costs[i], &figures);
		if (figures.peak_bytes > 0)
			return true;
	}
	return false;
}

uint64_t model_dropped(const struct model *model)
{
	uint64_t dropped = model_number(model, GT_COUNTERS, "dropped", 0);

	if (model->dropped > dropped)
		dropped = model->dropped;
	if (model->report.live_dropped > dropped)
		dropped = model->report.live_dropped;
	return dropped;
}

static uint64_t start_ns(const struct model *model)
{
	return model->start_reported ? model->start_ns :
		model->first_sync.monotonic_ns;
}

uint64_t model_first_realtime_ns(const struct model *model)
{
	return model->first_sync.realtime_ns;
}

uint64_t model_since_start_ns(const struct model *model, uint64_t stamp)
{
	uint64_t ns = clock_ns(&model->clock, stamp);

	return ns > start_ns(model) ? ns - start_ns(model) : 0;
}

uint64_t model_duration_ns(const struct model *model)
{
	uint64_t end = model_number(model, GT_END, "end_monotonic_ns", 0);
	uint64_t last = model->totals.last_stamp == 0 ? 0 :
		model_since_start_ns(model, model->totals.last_stamp);

	if (end == 0)
		end = model->last_sync.monotonic_ns;
	/* events from the live file may be later than the last SYNC */
	if (end < start_ns(model) || end - start_ns(model) < last)
		return last;
	return end - start_ns(model);
}

uint64_t model_thread_count(const struct model *model)
{
	DEBUG_ASSERT(model->threads.count > 0);
	return model->threads.count - 1;	/* 0 is "unknown" */
}

uint64_t model_stopped(const struct model *model)
{
	const struct contexts *contexts = &model->contexts;
	uint32_t *roots = grow_resize(NULL, contexts->node_count,
				      sizeof(*roots));
	uint64_t stopped = 0;

	/* Parents come first (I1 of contexts.c). */
	for (uint32_t node = 0; node < contexts->node_count; node++)
		roots[node] = node < CONTEXT_ROOTS ? node :
			roots[contexts->nodes[node].parent];
	for (size_t i = 0; i < contexts->cost_count; i++) {
		uint32_t root = roots[contexts->costs[i].node];

		DEBUG_ASSERT(root < CONTEXT_ROOTS);
		if (root != GT_STOP_BOTTOM && root != GT_STOP_DEPTH)
			stopped += contexts->costs[i].allocations;
	}
	free(roots);
	return stopped;
}

int model_embedded(void *owner, const uint8_t *build_id, size_t size)
{
	const struct model *model = owner;
	size_t i = embedded_find(&model->embedded, build_id, size, NULL);
	int fd = i == EMBEDDED_NONE || model->trace == NULL ? -1 :
		embedded_open(&model->embedded, i, model->trace,
			      model->report.trace_id);

	return fd < 0 ? -1 : fd;
}

int model_sidecar(void *owner, const uint8_t *build_id, size_t size)
{
	struct model *model = owner;
	int fd = -1;

	if (model->trace == NULL)
		return -1;
	fd = sidecar_open(&model->parts, model->trace,
			  model_fact(model, GT_INFO, "files"), build_id, size);
	if (fd < 0)
		fd = sidecar_open(&model->parent, model->trace,
				  model_fact(model, GT_INFO, "parent_trace"),
				  build_id, size);
	return fd < 0 ? -1 : fd;
}

void model_status_text(int status, struct buffer *text)
{
	int number = status & 0x7f;

	if (number == 0)
		buffer_printf(text, "exited with status %d",
			      status >> 8 & 0xff);
	else
		buffer_printf(text, "killed by signal %d (%s)%s",
			      number, strsignal(number),
			      status & 0x80 ? ", core dumped" : "");
}

void model_exit_text(const struct model *model, struct buffer *text)
{
	const char *reason = model_fact(model, GT_END, "reason");
	const char *message = model_fact(model, GT_END, "message");
	const char *code = model_fact(model, GT_END, "exit_code");

	if (model->report.being_written) {
		buffer_string(text, "still running");
	} else if (reason == NULL) {
		buffer_string(text, "unknown: the trace has no end");
	} else if (strcmp(reason, "exec") == 0) {
		buffer_string(text, "replaced by another program (exec)");
	} else if (code != NULL) {
		model_status_text((int)strtol(code, NULL, 10), text);
	} else if (strcmp(reason, "exit") == 0) {
		buffer_string(text, "ended");
	} else if (strcmp(reason, "part") == 0) {
		buffer_string(text, "continues in the next part");
	} else if (strcmp(reason, "stopped") == 0) {
		buffer_string(text, "recording stopped before the end");
	} else if (strcmp(reason, "killed") == 0) {
		buffer_string(text, "unknown: its recorder was killed, and "
			      "perhaps the program with it");
	} else {
		buffer_string(text, "recording failed");
	}
	if (code != NULL && reason != NULL && strcmp(reason, "killed") == 0)
		buffer_string(text, "; its recorder was killed before or with "
			      "it");
	if (message != NULL && message[0] != 0)
		buffer_printf(text, ": %s", message);
}

bool model_exit_unknown(const struct model *model)
{
	const char *reason = model_fact(model, GT_END, "reason");

	return !model->report.being_written && reason != NULL &&
	       strcmp(reason, "exit") == 0 &&
	       model_fact(model, GT_END, "exit_code") == NULL;
}
