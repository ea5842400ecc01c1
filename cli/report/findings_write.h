/*
 * findings_write.h: words findings for findings.c: sets the sentence, the
 * numbers and the query of a finding. Called by the main thread.
 */
#ifndef GNOMON_FINDINGS_WRITE_H
#define GNOMON_FINDINGS_WRITE_H

#include "cli/report/findings.h"

struct pages;
struct pages_group;

struct finding_site {
	bool known;
	struct frame frame;	/* if it is known */
	struct figures figures;
};

void findings_write_leak(const struct report *report, struct finding *finding,
			 const struct finding_site *site);
/* Adds another site to a leak; its stack must be loaded. `alone`: all its
 * blocks have that stack. */
void findings_write_also(const struct report *report, struct finding *finding,
			 const struct finding_site *site, bool alone);
void findings_write_growth(const struct report *report, struct finding *finding,
			   const struct finding_site *site, uint64_t gained);
void findings_write_peak(const struct report *report, struct finding *finding,
			 const struct finding_site *site);
/* `recorded`: allocations whose fate is known. */
void findings_write_churn(const struct report *report, struct finding *finding,
			  const struct finding_site *site, uint64_t recorded);
void findings_write_fragmentation(struct finding *finding,
				  const struct pages *pages,
				  const struct pages_group *keeper);
/* False: no data is missing. */
bool findings_write_missing(const struct report *report,
			    struct finding *finding);
/* The leak's site also grew steadily: puts both into one finding; the growth
 * finding no longer matters. */
void findings_join(struct findings *findings, uint64_t gained);
void findings_free_one(struct finding *finding);

#endif
