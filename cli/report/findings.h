/*
 * findings.h: findings of a trace, as sentences: what leaked, what grew, who
 * held the peak, what was churned, whose blocks keep pages, what is missing.
 * Each finding has its numbers, and the query whose rows show it.
 *
 *	findings_find(report, &findings)	the most important one first
 *	findings_text, findings_json
 *	findings_free
 *
 * A kind with nothing to report has no finding. Findings that are no reason to
 * act are in the list, too, but do not *matter*: text reports leave them out.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_FINDINGS_H
#define GNOMON_FINDINGS_H

#include "cli/report/report.h"

enum finding_kind {
	FINDING_MISSING,
	FINDING_LEAK,		/* live at the end, now, or at the moment */
	FINDING_GROWTH,		/* over the whole recording */
	FINDING_FRAGMENTATION,	/* pages that few live bytes keep */
	FINDING_CHURN,		/* temporary blocks */
	FINDING_PEAK,
	FINDING_KINDS
};

#define FINDING_NUMBERS 6
#define FINDING_WORDS 3

struct finding {
	enum finding_kind kind;
	bool matters;
	double weight;		/* importance, 0 … 1: sort key */
	struct buffer lead;	/* the sentence: its emphasised first words, */
	struct buffer text;	/* and the remaining ones */
	struct buffer also;	/* other sites, for output with enough space */
	bool has_site;
	struct frame site;	/* the code that it is about */
	struct finding_number {
		const char *name;	/* name of the JSON member */
		uint64_t value;
	} numbers[FINDING_NUMBERS];
	unsigned number_count;
	/* Options of `gnomon report` that show the finding, without the
	 * report's own filters; `value` is NULL for switches. */
	struct finding_word {
		const char *name, *value;
	} words[FINDING_WORDS];
	unsigned word_count;
	struct buffer pattern;	/* value of a word */
};

struct findings {
	struct finding list[FINDING_KINDS];
	unsigned count;
};

/* For a report of one trace whose rows are not of a profile. Reads the trace
 * again if code may have grown steadily. To be freed. */
void findings_find(struct report *report, struct findings *findings);
void findings_free(struct findings *findings);

/* Prints up to three findings that matter, and always the missing data. */
void findings_text(const struct report *report,
		   const struct findings *findings);
/* The member "findings": all findings. */
void findings_json(struct json *json, const struct findings *findings);
/* The measure whose table shows the most important finding. */
enum measure findings_figure(const struct findings *findings);

/* ---- growth test ---- */

/* Bytes that live memory gained over these steps, from the first allocation on,
 * if it grew steadily: rose in most steps and fell in few. Else 0. */
uint64_t findings_growth(const struct series_step *steps, size_t count);

#endif
