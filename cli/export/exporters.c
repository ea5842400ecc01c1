/*
 * exporters.c: the table of formats, in the order of `--help`.
 */
#include "cli/export/exporters.h"

#include <string.h>

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

const struct exporter *exporter_named(const char *name)
{
	for (size_t i = 0; exporters[i] != NULL; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}
