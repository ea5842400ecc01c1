/*
 * exporters.h: the table of formats of `gnomon export`.
 */
#ifndef GNOMON_EXPORTERS_H
#define GNOMON_EXPORTERS_H

#include "cli/command/export.h"

extern const struct exporter *const exporters[];	/* NULL-terminated */
const struct exporter *exporter_named(const char *name);	/* or NULL */

extern const struct exporter export_pprof;
extern const struct exporter export_collapsed;
extern const struct exporter export_speedscope;
extern const struct exporter export_heaptrack;
extern const struct exporter export_replay;
extern const struct exporter export_json;
extern const struct exporter export_ndjson;
extern const struct exporter export_csv;
extern const struct exporter export_dhat;
extern const struct exporter export_massif;
extern const struct exporter export_callgrind;
extern const struct exporter export_firefox;

#endif
