/*
 * report_tree.c: see report.h. Called by the main thread.
 *
 * A line is a function; its callees, or its callers, are below. Lines are
 * indented only where the tree branches: an only child stands right below its
 * parent, so that stacks of a hundred frames fit into 80 columns.
 *
 *	100.0%  17.9K  main
 *	100.0%  17.9K  run			the only callee of main
 *	 60.0%  10.7K  |- parse			two callees of run
 *	 60.0%  10.7K  |  read_line
 *	 40.0%   7.2K  '- load
 */
#include "cli/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/stack/profile_walk.h"

#define SHARE_MIN 100		/* branches below 1/100 of the whole are cut */
#define SIDE_BY_SIDE 8		/* branches shown below one */
#define INDENT_MAX 10		/* levels; deeper ones are not moved further */
#define FIGURES_WIDTH 18	/* before the names */

struct level {
	unsigned indent;	/* how often it was indented */
	bool more;		/* siblings follow it */
	bool moved;		/* indented relative to the level before */
	unsigned hidden;	/* runtime frames up to here, in a row, */
	bool below;		/* which are below a shown line */
	uint64_t self;		/* the current branch's own value */
};

struct tree {
	struct report *report;
	enum measure key;
	uint64_t whole;
	struct level *levels;	/* by depth */
	size_t level_capacity;
	struct json *json;
	struct csv *csv;
};

static uint64_t value_of(const struct tree *tree,
			 const struct figures *figures)
{
	return figures_value(figures, tree->key, tree->report->end_ns);
}

/* ---- text ---- */

/* Prints the lines before a name; returns their columns. */
static unsigned put_lines(const struct tree *tree, unsigned depth, bool last)
{
	const struct level *levels = tree->levels;
	unsigned used = 0;

	for (unsigned i = 1; i <= depth; i++) {
		const char *line = levels[i].more ? "|  " : "   ";

		if (!levels[i].moved)
			continue;
		if (i == depth)
			line = last ? "'- " : "|- ";
		fputs(line, tree->report->out);
		used += 3;
	}
	return used;
}

static struct level *enter_level(struct tree *tree,
				 const struct profile_branch *branch)
{
	unsigned depth = branch->depth;
	struct level *level;

	GROW_TO(tree->levels, tree->level_capacity, depth);
	level = &tree->levels[depth];
	level->self = value_of(tree, branch->self);
	level->more = branch->index + 1 < branch->count ||
		branch->left_out > 0;
	level->moved = depth > 0 && level[-1].indent < INDENT_MAX &&
		(branch->count + branch->left_out > 1 || level[-1].self > 0);
	level->indent = depth == 0 ? 0 : level[-1].indent + level->moved;
	return level;
}

static void put_figures(const struct tree *tree, uint64_t value)
{
	const struct report *r = tree->report;

	fprintf(r->out, "%s%6s%s %9s  ", r->style->share,
		PERCENT_TEXT(value, tree->whole), r->style->off,
		UNIT_TEXT(measure_kinds[tree->key].unit, value));
}

/* Whether the branch is folded: a runtime frame that is an only child, unless
 * it allocates itself: top down, by its own value; bottom up, the first one. */
static bool hide(const struct tree *tree, struct level *level, unsigned depth,
		 const struct frame *frame)
{
	const struct level *outer = depth > 0 ? level - 1 : NULL;
	bool up = tree->report->options->tree == REPORT_TREE_BOTTOM_UP;
	bool hidden = !level->moved && (up ? depth > 0 : level->self == 0) &&
		report_folds(tree->report, frame);

	level->hidden = hidden ? 1 + (outer ? outer->hidden : 0) : 0;
	level->below = outer != NULL && (outer->hidden == 0 || outer->below);
	return hidden;
}

/* A line for the frames folded before this branch. */
static void put_folded(const struct tree *tree,
		       const struct profile_branch *branch)
{
	const struct report *r = tree->report;
	const struct level *outer = branch->depth > 0 ?
		&tree->levels[branch->depth - 1] : NULL;

	if (outer == NULL || outer->hidden == 0 || !outer->below ||
	    branch->index > 0)
		return;
	fprintf(r->out, "%*s%s", FIGURES_WIDTH, "", r->style->dim);
	put_lines(tree, branch->depth - 1, false);
	fputs(r->style->off, r->out);
	report_folded(r, outer->hidden, 0);
}

static bool put_branch(void *owner, const struct profile_branch *branch)
{
	struct tree *tree = owner;
	const struct report *r = tree->report;
	struct level *level = enter_level(tree, branch);
	LOCAL_BUFFER name = { 0 }, place = { 0 };
	struct frame frame;
	unsigned used;

	profile_show_frame(&r->profile->frames[branch->frame], &frame);
	if (hide(tree, level, branch->depth, &frame))
		return true;
	put_folded(tree, branch);
	put_figures(tree, value_of(tree, branch->inclusive));
	fputs(r->style->dim, r->out);
	used = put_lines(tree, branch->depth, !level->more);
	fputs(r->style->off, r->out);
	report_frame_text(&frame, r->options->full_names,
			  report_width() - FIGURES_WIDTH - used, &name, &place);
	fputs(name.data, r->out);
	if (place.size > 0)
		fprintf(r->out, "  %s%s%s", r->style->dim, place.data,
			r->style->off);
	putc('\n', r->out);
	return true;
}

/* After the last sibling: how many were left out. */
static void end_branch(void *owner, const struct profile_branch *branch)
{
	struct tree *tree = owner;
	const struct report *r = tree->report;

	if (branch->index + 1 < branch->count || branch->left_out == 0)
		return;
	fprintf(r->out, "%*s%s", FIGURES_WIDTH, "", r->style->dim);
	tree->levels[branch->depth].more = false;
	put_lines(tree, branch->depth, true);
	fprintf(r->out, "(%zu more, smaller)%s\n", branch->left_out,
		r->style->off);
}

void report_tree_text(struct report *r, enum measure key)
{
	bool up = r->options->tree == REPORT_TREE_BOTTOM_UP;
	uint64_t whole = report_whole(r, key);
	struct tree tree = { .report = r, .key = key, .whole = whole };
	const struct profile_walk walk = {
		.bottom_up = up,
		.from_site = up,
		.key = key,
		.min = report_top(r, 1) == 0 ? 1 : whole / SHARE_MIN + 1,
		.max = report_top(r, SIDE_BY_SIDE),
		.enter = put_branch,
		.leave = end_branch,
		.owner = &tree,
	};

	fprintf(r->out, "\n%s%s%s: %s: each %s above its %s\n\n",
		r->style->title, up ? "CALLERS" : "CALLS", r->style->off,
		measure_kinds[key].tree, up ? "callee" : "caller",
		up ? "callers" : "callees");
	if (whole == 0)
		fprintf(r->out, "      none\n");
	else
		profile_walk(r->profile, &walk);
	free(tree.levels);
}

/* ---- JSON ---- */

static const struct profile_frame *branch_frame(const struct tree *tree,
					    const struct profile_branch *branch)
{
	return &tree->report->profile->frames[branch->frame];
}

/* The branch's frame and measures. */
static void put_members(const struct tree *tree,
			const struct profile_frame *frame,
			const struct profile_branch *branch,
			const struct members *to)
{
	members_number(to, "depth", branch->depth);
	members_text(to, "function", frame->function);
	members_flag(to, "named", frame->function && !frame->nameless);
	members_text(to, "file", frame->file);
	members_number(to, "line", frame->line);
	members_text(to, "library", frame->library);
	members_flag(to, "inlined", frame->inlined);
	members_number(to, "stacks", branch->contexts);
	figures_each(branch->inclusive, tree->report->end_ns, to->number,
		     to->owner);
}

static bool json_branch(void *owner, const struct profile_branch *branch)
{
	struct tree *tree = owner;
	struct json *json = tree->json;
	const struct members to = members_of_json(json);

	json_object(json, NULL);
	put_members(tree, branch_frame(tree, branch), branch, &to);
	report_json_bound(json, branch->contexts > 1);
	json_object(json, "self");
	report_json_figures(json, branch->self, tree->report->end_ns,
			    true);
	report_json_bound(json, branch->contexts > 1);
	json_end_object(json);
	json_end_object(json);
	return true;
}

static void csv_line(const struct tree *tree, const struct profile_frame *frame,
		     const struct profile_branch *branch,
		     const struct members *to)
{
	put_members(tree, frame, branch, to);
	tree->csv->prefix = "self_";
	figures_each(branch->self, tree->report->end_ns, to->number,
		     to->owner);
	tree->csv->prefix = NULL;
	csv_end_line(tree->csv);
}

static bool csv_branch(void *owner, const struct profile_branch *branch)
{
	const struct tree *tree = owner;
	const struct members values = csv_values(tree->csv);

	csv_line(tree, branch_frame(tree, branch), branch, &values);
	return true;
}

/* All branches, for JSON and CSV. */
static void walk_all(struct tree *tree,
		     bool (*enter)(void *, const struct profile_branch *))
{
	const struct report *r = tree->report;
	const struct profile_walk walk = {
		.bottom_up = r->options->tree == REPORT_TREE_BOTTOM_UP,
		.from_site = walk.bottom_up,
		.key = tree->key,
		.min = 1,
		.max = report_top(r, 0),
		.enter = enter,
		.owner = tree,
	};

	profile_walk(r->profile, &walk);
}

void report_tree_csv(struct csv *csv, struct report *r, enum measure key)
{
	static const struct profile_frame frame;
	const struct figures nothing = { 0 };
	const struct profile_branch none = {
		.inclusive = &nothing, .self = &nothing,
	};
	const struct members names = csv_names(csv);
	struct tree tree = { .report = r, .key = key, .csv = csv };

	csv_line(&tree, &frame, &none, &names);
	walk_all(&tree, csv_branch);
}

void report_tree_json(struct json *json, struct report *r, enum measure key)
{
	struct tree tree = { .report = r, .key = key, .json = json };

	json_array(json, "rows");
	walk_all(&tree, json_branch);
	json_end_array(json);
}
