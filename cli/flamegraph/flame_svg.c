/*
 * flame_svg.c: writes a flame graph as SVG, for one cost. Without scripts it is
 * a static picture: sizes are fixed, and names are cut to fit their boxes. Its
 * script (cli/page/flame_svg.ts) fits it to the window, zooms and searches,
 * using the exact numbers stored with each box:
 *
 *	<g class="f l3" data-s="START" data-v="VALUE" data-d="DEPTH">
 *	  <title>details</title><rect …/><text …>name</text></g>
 *
 * START is the sum of everything left of the box in its row. Called by the main
 * thread.
 */
#include "cli/flamegraph/flame.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/sort.h"
#include "cli/base/status.h"
#include "cli/base/text/printable.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/utf8.h"
#include "cli/base/text/xml.h"

/* Points; the same as in cli/page/flame_svg.ts. */
#define WIDTH 1200
#define MARGIN 10
#define ROW 17
#define LEGEND 65		/* below title, description, mouse-over text */
#define TOP 88
#define BOTTOM 10
#define LETTER 6.62		/* width of a fixed-width font of 11 points */

/* A 4000th of the picture is 0.3 points. */
#define SHARE (1.0 / 4000)
#define NODES_MAX 15000u
#define DEPTH_MAX 1000u
#define NAMES_BUDGET (4u << 20)
#define COLOURS 10

struct picture {
	const struct flame_export *flame;
	struct flame_tree tree;
	enum flame_value cost;
	uint64_t *starts;	/* start of each node */
	uint32_t depth;		/* largest depth */
	size_t name_limit;
	FILE *out;
	struct buffer scratch, text;
};

/* ---- positions of boxes ---- */

struct child {
	uint32_t node, parent;
	bool rest;		/* "(n smaller)" comes last */
	uint64_t value;
};

static int by_size(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	return sort_up(x->parent, y->parent) ?: sort_up(x->rest, y->rest) ?:
	       sort_down(x->value, y->value) ?: sort_up(x->node, y->node);
}

/* Callers precede their callees, so a node is placed before its children. */
static void place_boxes(struct picture *p)
{
	const struct flame_tree *tree = &p->tree;
	struct child *list = grow_alloc(tree->count * sizeof(*list));
	uint64_t *next = grow_zeroed(tree->count, sizeof(*next));

	p->starts = grow_zeroed(tree->count, sizeof(*p->starts));
	for (uint32_t n = 0; n < tree->count; n++) {
		const struct flame_node *node = &tree->nodes[n];

		list[n] = (struct child){ n, node->parent, node->smaller > 0,
					  flame_width(node, p->cost) };
		if (node->depth > p->depth)
			p->depth = node->depth;
	}
	assert(tree->count > 0);
	qsort(list + 1, tree->count - 1, sizeof(*list), by_size);
	for (uint32_t i = 1; i < tree->count; i++) {
		uint64_t *at = &next[list[i].parent];

		p->starts[list[i].node] = next[list[i].node] = *at;
		*at += list[i].value;
	}
	free(list);
	free(next);
}

static double points(const struct picture *p, uint64_t value)
{
	uint64_t whole = flame_width(&p->tree.nodes[0], p->cost);

	return whole == 0 ? 0 :
		(double)value / (double)whole * (WIDTH - 2 * MARGIN);
}

static unsigned row_of(const struct picture *p, uint32_t depth)
{
	return TOP + ROW * (p->flame->icicle ? depth : p->depth - depth);
}

/* ---- texts ---- */

/* Valid until the next call. */
static const char *as_xml(struct picture *p, const char *text)
{
	buffer_clear(&p->text);
	xml_text(&p->text, text);
	return p->text.data;
}

static bool is_bytes(const struct picture *p)
{
	return measure_kinds[flame_costs[p->cost]].unit == QUANTITY_BYTES;
}

static void add_value(struct buffer *text, const struct picture *p,
		      uint64_t value)
{
	if (is_bytes(p))
		buffer_printf(text, "%s (%s bytes)", SIZE_TEXT(value),
			      COUNT_TEXT(value));
	else
		buffer_printf(text, "%s allocations", COUNT_TEXT(value));
}

/* The value of a box; in a diff, both sides. */
static void add_values(struct buffer *text, const struct picture *p,
		       const struct flame_node *node)
{
	uint64_t after = node->values[p->cost];
	uint64_t before = node->values[FLAME_OF(FLAME_BEFORE, p->cost)];

	if (p->flame->comparison != NULL) {
		add_value(text, p, before);
		buffer_string(text, " → ");
	}
	add_value(text, p, after);
}

/* "472M (494,432,377 bytes) allocated in total" */
static void add_whole(struct buffer *text, const struct picture *p)
{
	static const char *const words[FLAME_COSTS] = {
		[FLAME_LIVE] = " live",
		[FLAME_PEAK] = " live at the peak",
		[FLAME_TOTAL] = " allocated in total",
		[FLAME_COUNT] = "",
		[FLAME_TEMPORARY] = " that were temporary",
	};

	add_values(text, p, p->tree.nodes);
	buffer_string(text, words[p->cost]);
}

static void add_place(struct buffer *text, const struct profile_frame *frame)
{
	if (frame->file != NULL) {
		buffer_printf(text, "\n%s", frame->file);
		if (frame->line > 0)
			buffer_printf(text, ":%u", frame->line);
		if (frame->line > 0 && frame->column > 0)
			buffer_printf(text, ":%u", frame->column);
	}
	if (frame->library != NULL)
		buffer_printf(text, "\n%s", frame->library);
	if (frame->inlined)
		buffer_string(text, " (inlined)");
}

/* Write a box's tooltip. */
static void put_title(struct picture *p, const struct flame_node *node)
{
	LOCAL_BUFFER text = { 0 };

	buffer_string(&text, flame_name(&p->scratch, &p->tree, node,
					p->name_limit));
	buffer_printable(&text);	/* the name is the first line */
	if (node->frame != PROFILE_NONE)
		add_place(&text, &p->tree.profile->frames[node->frame]);
	buffer_string(&text, "\n");
	add_values(&text, p, node);
	if (p->flame->comparison == NULL)
		buffer_printf(&text, ", %s", PERCENT_TEXT(
			      node->values[p->cost],
			      p->tree.nodes[0].values[p->cost]));
	fprintf(p->out, "<title>%s</title>", as_xml(p, text.data));
}

/* ---- boxes ---- */

/* Three shades of a library's colour distinguish its functions. */
static unsigned shade_of(const struct profile_frame *frame)
{
	uint32_t hash = 0;

	for (const char *c = frame->function; c != NULL && *c != 0; c++)
		hash = hash * 31 + (unsigned char)*c;
	return (unsigned)(hash_fixed(hash ^ frame->offset) % 3);
}

/* Leave a gap between boxes that are wide enough. */
static double drawn(double width)
{
	return width > 3 ? width - .7 : width;
}

static void put_class(struct picture *p, const struct flame_node *node)
{
	const struct profile_frame *frame;
	uint32_t library;

	if (p->flame->comparison != NULL) {
		fprintf(p->out, "f %s", flame_change_class(node, p->cost));
		return;
	}
	if (node->frame == PROFILE_NONE) {
		fputs(node->smaller > 0 ? "f rest" : "f root", p->out);
		return;
	}
	frame = &p->tree.profile->frames[node->frame];
	library = p->tree.library_of[p->tree.number[node->frame]];
	if (frame->stop != GT_STOP_BOTTOM)
		fputs("f stop", p->out);
	else if (frame->glue)
		fputs("f glue", p->out);
	else
		fprintf(p->out, "f l%" PRIu32 " v%u", library == 0 ? 0 :
			1 + (library - 1) % COLOURS, shade_of(frame));
}

/* The start of a name that fits into so many columns. */
static const char *fitting(struct buffer *text, const char *name,
			   size_t letters)
{
	size_t used = 0, two_less = 0, at = 0;

	while (name[at] != 0) {
		uint32_t code = 0xfffd;
		unsigned size = utf8_decode(name + at, UTF8_BYTES_MAX, &code);
		int columns = printable_columns(code);

		used += columns < 0 ? 1 : (size_t)columns;
		if (used > letters)
			break;
		at += size ? size : 1;
		if (used + 2 <= letters)
			two_less = at;
	}
	buffer_clear(text);
	buffer_add(text, name, name[at] == 0 ? at : two_less);
	buffer_printable(text);
	if (name[at] != 0)
		buffer_string(text, "..");
	return text->data;
}

static void put_name(struct picture *p, const struct flame_node *node,
		     double x, double width)
{
	size_t letters = width < 8 ? 0 : (size_t)((width - 6) / LETTER);
	LOCAL_BUFFER text = { 0 };
	const char *name;

	if (letters < 3) {
		fputs("<text/>", p->out);
		return;
	}
	name = flame_name(&p->scratch, &p->tree, node, p->name_limit);
	fprintf(p->out, "<text x=\"%.2f\" y=\"%u\">%s</text>", x + 3,
		row_of(p, node->depth) + 12,
		as_xml(p, fitting(&text, name, letters)));
}

static void put_box(struct picture *p, uint32_t n)
{
	const struct flame_node *node = &p->tree.nodes[n];
	uint64_t value = flame_width(node, p->cost);
	double x = MARGIN + points(p, p->starts[n]);
	double width = n == 0 ? WIDTH - 2 * MARGIN : points(p, value);

	fputs("<g class=\"", p->out);
	put_class(p, node);
	fprintf(p->out, "\" data-s=\"%" PRIu64 "\" data-v=\"%" PRIu64
		"\" data-d=\"%" PRIu32 "\">", p->starts[n], value,
		node->depth);
	put_title(p, node);
	fprintf(p->out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" "
		"height=\"%d\"/>", x, row_of(p, node->depth), drawn(width), ROW - 1);
	put_name(p, node, x, width);
	fputs("</g>\n", p->out);
}

/* ---- head and legend ---- */

static void put_head(struct picture *p, unsigned height)
{
	LOCAL_BUFFER title = { 0 };

	flame_title(&title, p->flame);
	fprintf(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" data-layout=\"%s\" "
		"data-unit=\"%s\" data-deepest=\"%" PRIu32 "\">\n"
		"<title>%s</title>\n<style>", WIDTH, height, WIDTH, height,
		p->flame->icicle ? "icicle" : "flame",
		is_bytes(p) ? "bytes" : "allocations", p->depth,
		as_xml(p, title.data));
	fprintf(p->out, "%s</style>\n<rect class=\"ground\" width=\"100%%\" "
		"height=\"100%%\"/>\n", as_xml(p, flame_page_svg_css));
	fprintf(p->out, "<text class=\"title\" x=\"%d\" y=\"21\">%s</text>\n",
		MARGIN, as_xml(p, title.data));
}

static void put_about(struct picture *p)
{
	const char *filters = filter_text(p->flame->export.query->filter);
	const struct flame_tree *tree = &p->tree;
	LOCAL_BUFFER text = { 0 };

	add_whole(&text, p);
	if (p->flame->export.coverage.sample_mean != 0)
		buffer_string(&text, ", estimated from a sample");
	if (filters[0] != 0)
		buffer_printf(&text, ", of%s", filters);
	if (tree->folded > 0)
		buffer_printf(&text, "; %s calls too small to be drawn are "
			      "in \"(n smaller)\"",
			      COUNT_TEXT(tree->folded));
	fprintf(p->out, "<text class=\"about\" x=\"%d\" y=\"38\">%s</text>\n",
		MARGIN, as_xml(p, text.data));
}

static void put_kind(struct picture *p, const char *class,
			const char *name, double *x, unsigned y)
{
	LOCAL_BUFFER text = { 0 };
	double width = 14 + LETTER * (double)strnlen(name, 30) + 12;

	if (*x + width > WIDTH - MARGIN)
		return;
	fprintf(p->out, "<g class=\"%s\"><rect x=\"%.1f\" y=\"%u\" "
		"width=\"10\" height=\"10\"/><text x=\"%.1f\" y=\"%u\">%s"
		"</text></g>\n", class, *x, y, *x + 14, y + 9,
		as_xml(p, fitting(&text, name, 30)));
	*x += width;
}

static void put_changes(struct picture *p, double *x, unsigned y)
{
	static const char *const kinds[][2] = {
		{ "less4", "gone" }, { "less3", "less than half left" },
		{ "less2", "shrunk" }, { "same", "unchanged" },
		{ "more2", "grown" }, { "more3", "more than doubled" },
		{ "more4", "new" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		put_kind(p, kinds[i][0], kinds[i][1], x, y);
}

/* Whether a box has the library's colour. */
static bool is_shown(const struct flame_tree *tree, uint32_t library)
{
	for (uint32_t n = 0; n < tree->count; n++) {
		const struct profile_frame *frame;

		if (tree->nodes[n].frame == PROFILE_NONE)
			continue;
		frame = &tree->profile->frames[tree->nodes[n].frame];
		if (tree->library_of[tree->number[tree->nodes[n].frame]] ==
		    library && frame->stop == GT_STOP_BOTTOM && !frame->glue)
			return true;
	}
	return false;
}

static void put_legend(struct picture *p, unsigned y)
{
	const struct flame_tree *tree = &p->tree;
	double x = MARGIN;
	char class[16];

	fputs("<g class=\"legend\">\n", p->out);
	if (p->flame->comparison != NULL) {
		put_changes(p, &x, y);
	} else {
		put_kind(p, "glue", "allocators, start-up", &x, y);
		for (uint32_t i = 1; i < tree->library_count && i <= COLOURS;
		     i++) {
			if (!is_shown(tree, i))
				continue;
			snprintf(class, sizeof(class), "l%" PRIu32, i);
			put_kind(p, class, tree->libraries[i], &x, y);
		}
	}
	fputs("</g>\n", p->out);
}

static void put_script(struct picture *p)
{
	fprintf(p->out, "<script>%s</script>\n</svg>\n",
		as_xml(p, flame_page_svg_js));
}

static int write_svg(struct export *export)
{
	struct picture p = { .flame = (struct flame_export *)export,
			     .out = export->out };
	struct flame_limits limits = { .share = SHARE, .nodes = NODES_MAX,
				       .depth = DEPTH_MAX };
	unsigned height;

	while (flame_costs[p.cost] != export->cost)
		p.cost++;
	assert(p.cost < FLAME_COSTS);
	limits.costs = 1u << p.cost;
	flame_tree_build(&p.tree, export->profile, &limits);
	place_boxes(&p);
	p.name_limit = flame_name_limit(&p.tree, true, NAMES_BUDGET);
	height = TOP + ROW * (p.depth + 1) + BOTTOM;
	put_head(&p, height);
	put_about(&p);
	put_legend(&p, LEGEND);
	fputs("<g id=\"frames\">\n", p.out);
	for (uint32_t n = 0; n < p.tree.count; n++)
		put_box(&p, n);
	fputs("</g>\n", p.out);
	put_script(&p);
	flame_tree_free(&p.tree);
	free(p.starts);
	buffer_free(&p.scratch);
	buffer_free(&p.text);
	return EXIT_COMPLETE;
}

const struct exporter flame_svg = {
	.name = "svg",
	.what = "a flame graph as SVG",
	.wants_profile = true,
	.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
		QUERY_SPARES_BLOCKS,
	.write = write_svg,
};
