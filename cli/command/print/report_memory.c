/*
 * report_memory.c: reports the program's memory as counted by the kernel and
 * the C library. Called by the main thread.
 *
 * These values are for the whole process, including the recorder's own memory;
 * snapshots show how much that is.
 */
#include <inttypes.h>

#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/stats/footprint.h"

#define COLUMN 11		/* width of the summary's labels */

const char *const report_usage_keys[GT_USAGE_VALUES] = {
	[GT_USAGE_COST_NS] = "cost_ns",
	[GT_USAGE_SIZE] = "vss_bytes",
	[GT_USAGE_RSS] = "rss_bytes",
	[GT_USAGE_SHARED] = "shared_bytes",
	[GT_USAGE_PSS] = "pss_bytes",
	[GT_USAGE_SHARED_CLEAN] = "shared_clean_bytes",
	[GT_USAGE_SHARED_DIRTY] = "shared_dirty_bytes",
	[GT_USAGE_PRIVATE_CLEAN] = "private_clean_bytes",
	[GT_USAGE_PRIVATE_DIRTY] = "private_dirty_bytes",
	[GT_USAGE_ANONYMOUS] = "anonymous_bytes",
	[GT_USAGE_SWAP] = "swap_bytes",
	[GT_USAGE_FAULTS_MINOR] = "faults_minor",
	[GT_USAGE_FAULTS_MAJOR] = "faults_major",
};

static const char *const mapping_keys[GT_MAPPING_VALUES] = {
	[GT_MAPPING_RSS] = "rss_bytes",
	[GT_MAPPING_PSS] = "pss_bytes",
	[GT_MAPPING_SHARED_CLEAN] = "shared_clean_bytes",
	[GT_MAPPING_SHARED_DIRTY] = "shared_dirty_bytes",
	[GT_MAPPING_PRIVATE_CLEAN] = "private_clean_bytes",
	[GT_MAPPING_PRIVATE_DIRTY] = "private_dirty_bytes",
	[GT_MAPPING_ANONYMOUS] = "anonymous_bytes",
	[GT_MAPPING_HUGE] = "huge_bytes",
	[GT_MAPPING_SWAP] = "swap_bytes",
};

static const char *const arenas_keys[GT_ARENAS_VALUES] = {
	[GT_ARENAS_COST_NS] = "cost_ns",
	[GT_ARENAS_SYSTEM] = "system_bytes",
	[GT_ARENAS_FREE] = "free_bytes",
	[GT_ARENAS_FREE_COUNT] = "free_count",
	[GT_ARENAS_FAST] = "fast_bytes",
	[GT_ARENAS_FAST_COUNT] = "fast_count",
	[GT_ARENAS_TOP] = "top_bytes",
	[GT_ARENAS_MMAPPED] = "mmapped_bytes",
	[GT_ARENAS_MMAPPED_COUNT] = "mmapped_count",
};

static const char *kind_text(uint32_t kind)
{
	static const char *const words[GT_SNAPSHOT_KINDS] = {
		[GT_SNAPSHOT_EVERY] = "every",
		[GT_SNAPSHOT_LAST] = "end",
		[GT_SNAPSHOT_ASKED] = "asked",
	};

	return kind < GT_SNAPSHOT_KINDS && words[kind] ? words[kind] :
							 "unknown";
}

/* Why a snapshot has no values of the allocator; NULL: it has them. */
static const char *arenas_text(uint32_t state)
{
	static const char *const words[GT_ARENAS_STATES] = {
		[GT_ARENAS_FOREIGN] = "not an allocator that tells",
		[GT_ARENAS_NOT_SAFE] =
			"no thread was where it may be asked",
		[GT_ARENAS_DEAR] = "would have taken too long again",
		[GT_ARENAS_THREADS] = "not asked: the program has threads",
	};

	return state < GT_ARENAS_STATES ? words[state] : "unknown";
}

static uint64_t allocator_virtual(const struct footprint_snapshot *snapshot)
{
	return snapshot->said.arenas_value[GT_ARENAS_SYSTEM] +
	       snapshot->said.arenas_value[GT_ARENAS_MMAPPED];
}

/* ---- the summary of a report ---- */

static void put_sizes(const struct model *model, FILE *out)
{
	const struct footprint *f = model_footprint(model);
	const struct footprint_snapshot *last = f->snapshot_count == 0 ? NULL :
		&f->snapshots[f->snapshot_count - 1];
	const char *when = model_is_being_written(model) ? "now" : "at the end";
	uint64_t peak, stamp;

	peak = footprint_peak(f, GT_USAGE_RSS, &stamp);
	fprintf(out, "  %-*s  peak %s, after %s; %s %s: real memory\n", COLUMN,
		"resident", SIZE_TEXT(peak),
		TIME_TEXT(model_since_start_ns(model, stamp)),
		SIZE_TEXT(footprint_last(f, GT_USAGE_RSS)), when);
	if (footprint_is_detailed(f))
		fprintf(out, "  %-*s  of that %s its own, %s of files and "
			"shared; %s in swap\n", COLUMN, "",
			SIZE_TEXT(footprint_last(f, GT_USAGE_ANONYMOUS)),
			SIZE_TEXT(footprint_last(f, GT_USAGE_SHARED)),
			SIZE_TEXT(footprint_last(f, GT_USAGE_SWAP)));
	if (last != NULL)
		fprintf(out, "  %-*s  %s of it is the recorder's own\n", COLUMN,
			"", SIZE_TEXT(last->ours.value[GT_MAPPING_RSS]));
	fprintf(out, "  %-*s  its peak is the largest of %s\n", COLUMN, "",
		COUNTED(f->point_count, "sample"));
	peak = footprint_peak(f, GT_USAGE_SIZE, &stamp);
	fprintf(out, "  %-*s  peak %s, %s %s: addresses, not memory\n", COLUMN,
		"mapped", SIZE_TEXT(peak),
		SIZE_TEXT(footprint_last(f, GT_USAGE_SIZE)), when);
	if (last != NULL)
		fprintf(out, "  %-*s  %s of them reserved by the recorder\n",
			COLUMN, "", SIZE_TEXT(last->ours.size));
}

void report_memory_text(const struct model *model, FILE *out)
{
	const struct footprint_snapshot *snapshot =
		footprint_arenas(model_footprint(model));
	uint64_t size;

	if (model_footprint(model)->point_count > 0)
		put_sizes(model, out);
	if (snapshot == NULL)
		return;
	size = allocator_virtual(snapshot);
	fprintf(out, "  %-*s  took %s from the kernel, %s of it free (after "
		"%s)\n", COLUMN, "allocator", SIZE_TEXT(size),
		SIZE_TEXT(snapshot->said.arenas_value[GT_ARENAS_FREE]),
		TIME_TEXT(model_since_start_ns(model,
			snapshot->said.arenas_stamp)));
}

void report_memory_brief(const struct model *model, FILE *out)
{
	const struct footprint *f = model_footprint(model);
	uint64_t stamp;

	if (f->point_count == 0)
		return;
	fprintf(out, "  %-*s  peak %s (%s)", COLUMN, "resident",
		SIZE_TEXT(footprint_peak(f, GT_USAGE_RSS, &stamp)),
		COUNTED(f->point_count, "sample"));
	fprintf(out, ", %s %s\n", SIZE_TEXT(footprint_last(f, GT_USAGE_RSS)),
		model_is_being_written(model) ? "now" : "at the end");
}

static void put_last(struct json *json, const struct footprint *footprint,
		     enum gt_usage_value value)
{
	json_uint(json, report_usage_keys[value],
		  footprint_last(footprint, value));
}

void report_memory_summary(struct json *json, const struct model *model)
{
	const struct footprint *f = model_footprint(model);
	const struct footprint_snapshot *snapshot = footprint_arenas(f);
	const uint64_t *arenas = snapshot ? snapshot->said.arenas_value : NULL;
	uint64_t stamp, peak;

	if (f->point_count > 0) {
		peak = footprint_peak(f, GT_USAGE_RSS, &stamp);
		json_uint(json, "rss_peak_bytes", peak);
		json_uint(json, "rss_peak_time_ns",
			  model_since_start_ns(model, stamp));
		json_uint(json, "vss_peak_bytes",
			  footprint_peak(f, GT_USAGE_SIZE, &stamp));
		put_last(json, f, GT_USAGE_RSS);
		put_last(json, f, GT_USAGE_SIZE);
		put_last(json, f, GT_USAGE_SHARED);
	}
	if (footprint_is_detailed(f)) {
		put_last(json, f, GT_USAGE_ANONYMOUS);
		put_last(json, f, GT_USAGE_SWAP);
	}
	if (snapshot == NULL)
		return;
	json_uint(json, "allocator_virtual_bytes",
		  allocator_virtual(snapshot));
	json_uint(json, "allocator_used_bytes", allocator_virtual(snapshot) -
		  arenas[GT_ARENAS_FREE]);
	json_uint(json, "allocator_free_bytes", arenas[GT_ARENAS_FREE]);
}

/* ---- gnomon info ---- */

static void put_snapshot(const struct model *model,
			 const struct footprint_snapshot *snapshot, FILE *out)
{
	const char *why = arenas_text(snapshot->said.arenas);
	LOCAL_BUFFER name = { 0 };

	buffer_string(&name, snapshot->name);
	buffer_printable(&name);
	fprintf(out, "  %-12s %s at %s: ", name.size ? name.data : "-",
		kind_text(snapshot->said.kind),
		TIME_TEXT(model_since_start_ns(model, snapshot->said.begin)));
	fprintf(out, "%" PRIu64 " mappings%s, %s resident (%s ours)\n",
		snapshot->said.mappings,
		snapshot->said.flags & GT_SNAPSHOT_WHOLE ? "" : " (not all)",
		SIZE_TEXT(snapshot->all.value[GT_MAPPING_RSS]),
		SIZE_TEXT(snapshot->ours.value[GT_MAPPING_RSS]));
	fprintf(out, "               allocator: ");
	if (why != NULL)
		fprintf(out, "%s\n", why);
	else
		fprintf(out, "%s, %s of it free, %s of that at its end\n",
			SIZE_TEXT(allocator_virtual(snapshot)),
			SIZE_TEXT(snapshot->said.arenas_value[GT_ARENAS_FREE]),
			SIZE_TEXT(snapshot->said.arenas_value[GT_ARENAS_TOP]));
}

void report_memory_info(const struct model *model, FILE *out)
{
	const struct footprint *f = model_footprint(model);
	uint64_t detailed = 0, cost = 0;

	for (size_t i = 0; i < f->point_count; i++) {
		detailed += f->points[i].value[GT_USAGE_FLAGS] &
			    GT_USAGE_DETAILED;
		cost += f->points[i].value[GT_USAGE_COST_NS];
	}
	fprintf(out, "\nMEMORY (%zu points, %" PRIu64 " with all measures; %s "
		"of processor time)\n", f->point_count, detailed,
		TIME_TEXT(cost));
	if (f->point_count > 1)
		fprintf(out, "  every        %s on average, while values "
			"changed\n",
			TIME_TEXT((model_since_start_ns(model,
				f->points[f->point_count - 1].stamp) -
				model_since_start_ns(model,
				f->points[0].stamp)) / (f->point_count - 1)));
	report_memory_text(model, out);
	fprintf(out, "\nSNAPSHOTS (%zu)\n", f->snapshot_count);
	for (size_t i = 0; i < f->snapshot_count; i++)
		put_snapshot(model, &f->snapshots[i], out);
	if (f->refused > 0)
		fprintf(out, "  %" PRIu64 " records were left out: too many, "
			"or out of order\n", f->refused);
}

static void json_mapping(struct json *json,
			 const struct footprint_mapping *mapping)
{
	char flags[6] = "----p";

	for (unsigned i = 0; i < 3; i++)
		flags[i] = mapping->flags & 1u << i ? "rwx"[i] : '-';
	flags[3] = mapping->flags & GT_MAPPING_IS_SHARED ? 's' : 'p';
	flags[4] = 0;
	json_object(json, NULL);
	json_uint(json, "start", mapping->start);
	json_uint(json, "size", mapping->size);
	json_string(json, "flags", flags);
	json_bool(json, "ours", mapping->flags & GT_MAPPING_OURS);
	json_uint(json, "offset", mapping->value[GT_MAPPING_OFFSET] << 12);
	json_string(json, "path", mapping->path);
	for (unsigned i = 0; i < GT_MAPPING_VALUES; i++)
		if (mapping_keys[i] != NULL)
			json_uint(json, mapping_keys[i],
				  mapping->value[i] * 1024);
	json_end_object(json);
}

static void json_arenas(struct json *json,
			const struct trace_snapshot *snapshot)
{
	if (snapshot->arenas != GT_ARENAS_TAKEN) {
		json_string(json, "no_allocator",
			    arenas_text(snapshot->arenas));
		return;
	}
	json_object(json, "allocator");
	for (unsigned i = 0; i < GT_ARENAS_VALUES; i++)
		json_uint(json, arenas_keys[i], snapshot->arenas_value[i]);
	json_end_object(json);
}

static void json_snapshot(struct json *json, const struct model *model,
			  const struct footprint_snapshot *snapshot)
{
	const struct trace_snapshot *said = &snapshot->said;

	json_object(json, NULL);
	json_string(json, "name", snapshot->name);
	json_string(json, "kind", kind_text(said->kind));
	json_uint(json, "time_ns", model_since_start_ns(model, said->begin));
	json_uint(json, "end_ns", model_since_start_ns(model, said->end));
	json_bool(json, "whole", said->flags & GT_SNAPSHOT_WHOLE);
	json_uint(json, "rss_bytes", snapshot->all.value[GT_MAPPING_RSS]);
	json_uint(json, "vss_bytes", snapshot->all.size);
	json_uint(json, "ours_rss_bytes",
		  snapshot->ours.value[GT_MAPPING_RSS]);
	json_arenas(json, said);
	json_uint(json, "mapping_count", said->mappings);
	json_array(json, "mappings");
	for (size_t i = 0; i < snapshot->count; i++)
		json_mapping(json, &model_footprint(model)->mappings[
				snapshot->first + i]);
	json_end_array(json);
	json_end_object(json);
}

void report_memory_json(struct json *json, const struct model *model)
{
	const struct footprint *f = model_footprint(model);

	json_array(json, "usage");
	for (size_t i = 0; i < f->point_count; i++) {
		const struct trace_usage *point = &f->points[i];

		json_object(json, NULL);
		json_uint(json, "time_ns",
			  model_since_start_ns(model, point->stamp));
		json_bool(json, "detailed", point->value[GT_USAGE_FLAGS] &
			  GT_USAGE_DETAILED);
		for (unsigned k = 0; k < GT_USAGE_VALUES; k++)
			if (report_usage_keys[k] != NULL)
				json_uint(json, report_usage_keys[k],
					  footprint_value(point, k));
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "snapshots");
	for (size_t i = 0; i < f->snapshot_count; i++)
		json_snapshot(json, model, &f->snapshots[i]);
	json_end_array(json);
}
