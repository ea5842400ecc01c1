/*
 * report_pages.h: --pages: on how many pages the live blocks lie, whose blocks
 * keep them, and what the process's resident memory consisted of at snapshots.
 * Called by the main thread.
 */
#ifndef GNOMON_REPORT_PAGES_H
#define GNOMON_REPORT_PAGES_H

#include "cli/model/pages/pages.h"
#include "cli/model/pages/residency.h"
#include "cli/report/report.h"

struct report_pages {
	struct query_rows rows;		/* that keep any, by what they keep */
	struct pages *pages;
	const struct pages_group **groups;	/* by row */
	struct residency residency;
	struct map_index *maps;		/* NULL: nothing is known of mappings */
};

/* Of a report of one trace; of `snapshots` at most it tells what was resident.
 * To be released. */
void report_pages_find(struct report *report, size_t snapshots,
		       struct report_pages *found);
void report_pages_free(struct report_pages *found);

/* Figures of a row by its index, without a line's end. */
void report_pages_row(const struct report *report,
		      const struct report_pages *found, size_t row);
/* The sections before the rows, and that behind them. */
void report_pages_text(struct report *report, const struct report_pages *found);
void report_residency_text(const struct report *report,
			   const struct report_pages *found);

/* Of a row, the member "pages"; of the whole, the members "pages" and
 * "residency". */
void report_pages_row_json(struct json *json, const struct report_pages *found,
			   size_t row);
void report_pages_json(struct json *json, struct report *report,
		       const struct report_pages *found);

#endif
