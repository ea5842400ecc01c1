/*
 * export_run.h: shared by commands that export: reads a trace and runs an
 * exporter on it.
 */
#ifndef GNOMON_EXPORT_RUN_H
#define GNOMON_EXPORT_RUN_H

#include "cli/command/export.h"
#include "cli/command/trace_args.h"

/* Takes an option whose words are measure_words_exported. */
int export_run_measure(struct export *export, const char *value);
/*
 * Read the first trace found, look up its symbols, and write it. The caller
 * sets cost, threads and output of `export`. Returns an exit status.
 */
int export_run(struct export *export, struct trace_args *args,
	       const struct exporter *exporter);

#endif
