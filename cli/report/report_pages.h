/*
 * report_pages.h: --pages: the number of pages with live blocks, whose blocks
 * keep them, and the parts of resident memory at snapshots. Called by the main
 * thread.
 */
#ifndef GNOMON_REPORT_PAGES_H
#define GNOMON_REPORT_PAGES_H

#include "cli/model/pages/pages.h"
#include "cli/model/pages/residency.h"
#include "cli/report/report.h"

struct report_pages {
	struct query_rows rows;		/* groups that keep pages, by how
					 * many */
	struct pages *pages;
	const struct pages_group **groups;	/* by row */
	struct residency residency;
	struct map_index *maps;		/* NULL: no mappings were recorded */
};

/* For a report of one trace; shows resident memory at no more than `snapshots`
 * snapshots. To be freed. */
void report_pages_find(struct report *report, size_t snapshots,
		       struct report_pages *found);
void report_pages_free(struct report_pages *found);

/* Measures of a row by its index, without a line end. */
void report_pages_row(const struct report *report,
		      const struct report_pages *found, size_t row);
/* The sections before the rows, and the one after them. */
void report_pages_text(struct report *report, const struct report_pages *found);
void report_residency_text(const struct report *report,
			   const struct report_pages *found);

/* For a row, the member "pages"; for the whole, the members "pages" and
 * "residency". */
void report_pages_row_json(struct json *json, const struct report_pages *found,
			   size_t row);
void report_pages_json(struct json *json, struct report *report,
		       const struct report_pages *found);

#endif
