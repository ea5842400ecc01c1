/*
 * exporting.h: from a trace's name to an exporter that writes it: what
 * commands that export have in common.
 */
#ifndef GNOMON_EXPORTING_H
#define GNOMON_EXPORTING_H

#include "cli/command/export.h"
#include "cli/command/reading.h"

/* For an option with figure_words_exported. */
int exporting_take_cost(struct export *export, const char *value);
/*
 * Read the first trace that was found, look up its symbols, and write it. Of
 * `export`, cost, threads and output are set. Returns an exit status.
 */
int exporting_run(struct export *export, struct reading *reading,
		  const struct exporter *exporter);

#endif
