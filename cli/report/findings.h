/*
 * findings.h: what stands out in a trace, as sentences: what leaked, what grew,
 * who held the peak, what was churned, whose blocks keep pages, what is missing.
 * Each has the numbers that it was made of, and the query whose rows show it.
 *
 *	findings_find(report, &findings)	the most important one first
 *	findings_text, findings_json
 *	findings_free
 *
 * A kind of which there is nothing to be said has no finding. Those that are
 * no reason to act are there, too, but do not *matter*: reports in words leave
 * them out.
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
	double weight;		/* importance, 0 … 1: they are in its order */
	struct buffer lead;	/* the sentence: its first words, emphasised, */
	struct buffer text;	/* and the rest */
	struct buffer also;	/* other sites, for those with room for them */
	bool has_site;
	struct frame site;	/* which code it is about */
	struct finding_number {
		const char *name;	/* of its JSON member */
		uint64_t value;
	} numbers[FINDING_NUMBERS];
	unsigned number_count;
	/* The options of `gnomon report` that show it, without the filters of
	 * the report; `value` is NULL for switches. */
	struct finding_word {
		const char *name, *value;
	} words[FINDING_WORDS];
	unsigned word_count;
	struct buffer pattern;	/* that a word has as its value */
};

struct findings {
	struct finding list[FINDING_KINDS];
	unsigned count;
};

/* Of a report of one trace, whose rows are of no profile. Reads the trace again
 * if code may have grown steadily. To be released. */
void findings_find(struct report *report, struct findings *findings);
void findings_free(struct findings *findings);

/* Up to three that matter, and always what is missing. */
void findings_text(const struct report *report,
		   const struct findings *findings);
/* The member "findings": all of them. */
void findings_json(struct json *json, const struct findings *findings);
/* By which figure rows tell most of it. */
enum figure findings_figure(const struct findings *findings);

/* ---- how it is judged ---- */

/* Bytes that live memory gained over these steps, from the first allocation on,
 * if it grew steadily: in most of them, and fell in few. Else 0. */
uint64_t findings_growth(const struct series_step *steps, size_t count);

#endif
