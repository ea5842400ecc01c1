/*
 * exporting.h: shared by commands that export: reads a trace and runs an
 * exporter on it.
 */
#ifndef GNOMON_EXPORTING_H
#define GNOMON_EXPORTING_H

#include "cli/command/export.h"
#include "cli/command/reading.h"

/* Takes an option whose words are figure_words_exported. */
int exporting_take_cost(struct export *export, const char *value);
/*
 * Read the first trace found, look up its symbols, and write it. The caller
 * sets cost, threads and output of `export`. Returns an exit status.
 */
int exporting_run(struct export *export, struct reading *reading,
		  const struct exporter *exporter);

#endif
