/*
 * exporters.c: the table of formats, in the order of `--help`.
 */
#include "cli/export/export.h"

const struct exporter *const exporters[] = {
	&export_pprof,
	&export_collapsed,
	&export_speedscope,
	&export_heaptrack,
	&export_replay,
	&export_json,
	&export_ndjson,
	&export_csv,
	&export_dhat,
	&export_massif,
	&export_callgrind,
	&export_firefox,
	NULL
};
