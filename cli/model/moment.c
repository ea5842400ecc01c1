/*
 * moment.c: see moment.h. Called by the main thread.
 */
#include "cli/model/moment.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/quantity.h"
#include "cli/model/model_state.h"

#define NAMES_SHOWN 8

/* Parses "30%", "12.5%"; without strtod, as quantity.c explains. */
static int parse_share(const char *text, double *share)
{
	double value = 0, scale = 0.1;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (*p - '0');
	if (p == text)
		return -EINVAL;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, scale /= 10)
			value += (*p - '0') * scale;
	if (strcmp(p, "%") != 0)
		return -EINVAL;
	*share = value / 100;
	return value > 100 ? -ERANGE : 0;
}

int moment_parse(const char *text, struct moment *moment)
{
	size_t size = strlen(text);

	memset(moment, 0, sizeof(*moment));
	if (strcmp(text, "start") == 0)
		return 0;
	if (strcmp(text, "end") == 0) {
		moment->kind = MOMENT_SHARE;
		moment->share = 1;
		return 0;
	}
	if (text[0] == '@') {
		moment->kind = MOMENT_NAME;
		moment->name = text + 1;
		return size > 1 ? 0 : -EINVAL;
	}
	if (size > 0 && text[size - 1] == '%') {
		moment->kind = MOMENT_SHARE;
		return parse_share(text, &moment->share);
	}
	return strcmp(text, "0") == 0 ? 0 :
		quantity_parse_time(text, &moment->ns);
}

static int compare(const void *left, const void *right)
{
	const struct moment_name *a = left, *b = right;

	return sort_up(a->stamp, b->stamp);
}

size_t moment_names(const struct model *model, struct moment_name **list)
{
	const struct footprint *footprint = &model->footprint;
	const struct controls *controls = &model->controls;
	struct moment_name *names = grow_alloc((footprint->snapshot_count +
						controls->count) *
					       sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < footprint->snapshot_count; i++)
		if (footprint->snapshots[i].name[0] != 0)
			names[count++] = (struct moment_name){
				footprint->snapshots[i].name,
				footprint->snapshots[i].said.begin,
			};
	for (size_t i = 0; i < controls->count; i++)
		if (controls->list[i].name[0] != 0)
			names[count++] = (struct moment_name){
				controls->list[i].name,
				controls->list[i].stamp,
			};
	assert(count <= footprint->snapshot_count + controls->count);
	SORT(names, count, compare);
	*list = names;
	return count;
}

static void report_names(const struct moment_name *known, size_t count,
			 const char *name, struct notes *notes)
{
	const char *reported[NAMES_SHOWN];
	LOCAL_BUFFER names = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		size_t before = 0;

		while (before < shown &&
		       strcmp(reported[before], known[i].name) != 0)
			before++;
		if (before < shown)
			continue;
		if (shown == NAMES_SHOWN) {
			buffer_string(&names, ", …");
			break;
		}
		reported[shown++] = known[i].name;
		buffer_printf(&names, "%s@%s", shown > 1 ? ", " : "",
			      known[i].name);
	}
	buffer_printable(&names);
	if (shown == 0)
		notes_error(notes, "no marker or snapshot is called %s: the "
			    "trace has no named ones: give a time", name);
	else
		notes_error(notes, "no marker or snapshot is called %s: the "
			    "trace has %s", name, names.data);
}

/* The last marker or snapshot with this name. */
static bool find_name(const struct model *model, const char *name,
		      uint64_t *stamp)
{
	struct moment_name *names;
	size_t count = moment_names(model, &names), found = 0;

	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i].name, name) == 0) {
			*stamp = names[i].stamp;
			found++;
		}
	if (found == 0)
		report_names(names, count, name, model->options.notes);
	else if (found > 1)
		notes_hint(model->options.notes, "@%s: %zu markers or snapshots "
			   "have this name: using the last", name, found);
	free(names);
	return found > 0;
}

bool moment_ns(const struct model *model, const struct moment *moment,
	       uint64_t *ns)
{
	uint64_t stamp;

	switch (moment->kind) {
	case MOMENT_TIME:
		*ns = moment->ns;
		return true;
	case MOMENT_SHARE:
		*ns = (uint64_t)((double)model_duration_ns(model) *
				 moment->share);
		return true;
	case MOMENT_NAME:
		if (!find_name(model, moment->name, &stamp))
			return false;
		*ns = model_since_start_ns(model, stamp);
		return true;
	}
	return false;
}

static bool is_not_before(const void *model, size_t stamp, uint64_t ns)
{
	return model_since_start_ns(model, stamp) >= ns;
}

/* Stamps ascend with time. */
static uint64_t stamp_of_ns(const struct model *model, uint64_t ns)
{
	return search_first(model, UINT64_MAX, is_not_before, ns);
}

bool moment_stamp(const struct model *model, const struct moment *moment,
		  uint64_t *stamp)
{
	uint64_t ns;

	if (moment->kind == MOMENT_NAME)
		return find_name(model, moment->name, stamp);
	if (!moment_ns(model, moment, &ns))
		return false;
	*stamp = stamp_of_ns(model, ns);
	return true;
}
