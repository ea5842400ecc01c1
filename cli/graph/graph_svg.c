/*
 * graph_svg.c: writes a graph as SVG without scripts.
 *
 *	title
 *	description
 *	 │  ┌─┐
 *	y├──┘ └──┐      a step is as wide as its time: its value holds
 *	 │       └──    from its start to its end
 *	 └──┬──┬──┬─
 *	    time
 *	■ name  max       legend, in columns
 *
 * Called by the main thread.
 */
#include "cli/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/utf8.h"
#include "cli/base/text/xml.h"

/* Points. */
#define WIDTH 1200
#define LEFT 84
#define RIGHT 24
#define TOP 64
#define PLOT_HEIGHT 400
#define AXIS_HEIGHT 56		/* below the plot */
#define LEGEND_LINE_HEIGHT 20
#define LETTER_WIDTH 6.8
#define LEGEND_COLUMNS 2
#define LEGEND_LETTERS 60
#define LEGEND_MAX 200		/* lines of the legend */

#define COLOURS 10
#define DASHES 3		/* dash patterns, or shades, of each colour */
#define TICKS 8

struct picture {
	const struct graph *graph;
	FILE *out;
	uint64_t max;		/* value at the upper edge */
	uint64_t *base;		/* sum of the series below, by step */
};

static bool is_bytes(enum measure cost)
{
	return cost != MEASURE_COUNT && cost != MEASURE_TEMPORARY;
}

static char *value_text(const struct picture *p, char *text, uint64_t value)
{
	return is_bytes(p->graph->cost) ? quantity_size(text, (int64_t)value) :
		quantity_count(text, value);
}

/* At a tick, "10.0ms" becomes "10ms". */
static char *brief(char *text)
{
	char *dot = strchr(text, '.');
	char *unit = dot == NULL ? NULL : dot + 1 + strspn(dot + 1,
							  "0123456789");
	char *end = unit;

	if (dot == NULL)
		return text;
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	memmove(end, unit, strlen(unit) + 1);
	return text;
}

static void put_text(struct picture *p, const char *class, double x, double y,
		     const char *text)
{
	struct buffer xml = { 0 };

	xml_text(&xml, text);
	fprintf(p->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		class, x, y, xml.data ? xml.data : "");
	buffer_free(&xml);
}

/* ---- scales ---- */

static uint64_t value_at(const struct picture *p, size_t series, size_t step)
{
	return series_value(&p->graph->list[series].steps[step],
			    p->graph->cost);
}

static uint64_t find_max(const struct picture *p)
{
	const struct graph *graph = p->graph;
	uint64_t max = 0;

	for (size_t i = 0; i < graph->axis.steps; i++) {
		uint64_t sum = 0;

		for (size_t s = 0; s < graph->count; s++) {
			uint64_t value = value_at(p, s, i);

			sum = graph->stacked ? sum + value :
				value > sum ? value : sum;
		}
		max = sum > max ? sum : max;
	}
	return max;
}

/* A round tick distance with at most TICKS ticks; for bytes a power of two. */
static uint64_t tick_of(uint64_t max, bool binary)
{
	static const unsigned factors[] = { 1, 2, 5 };
	uint64_t tick = 1;

	if (binary) {
		while (max / tick > TICKS)
			tick *= 2;
		return tick;
	}
	for (unsigned i = 0; max / tick > TICKS; i++)
		tick = i % 3 == 2 ? tick / 5 * 10 : tick / factors[i % 3] *
			factors[i % 3 + 1];
	return tick;
}

/* For times: round numbers of seconds, minutes or hours. */
static uint64_t tick_of_time(uint64_t ns)
{
	static const uint64_t seconds[] = {
		1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600, 7200, 21600,
		43200, 86400,
	};
	const uint64_t second = 1000000000;

	for (size_t i = 0; ns > TICKS * second &&
	     i < sizeof(seconds) / sizeof(seconds[0]); i++)
		if (ns / (seconds[i] * second) <= TICKS)
			return seconds[i] * second;
	return tick_of(ns, false);
}

static double x_of(const struct picture *p, uint64_t ns)
{
	uint64_t end = p->graph->axis.end_ns;

	return LEFT + (end == 0 ? 0 : (double)ns / (double)end *
		       (WIDTH - LEFT - RIGHT));
}

static double x_of_step(const struct picture *p, size_t step)
{
	return LEFT + (double)step / (double)p->graph->axis.steps *
		(WIDTH - LEFT - RIGHT);
}

static double y_of(const struct picture *p, uint64_t value)
{
	return TOP + PLOT_HEIGHT - (double)value / (double)p->max * PLOT_HEIGHT;
}

/* ---- axes ---- */

static void put_values(struct picture *p)
{
	uint64_t tick = tick_of(p->max, is_bytes(p->graph->cost));
	char text[QUANTITY_TEXT];

	for (uint64_t value = 0; value <= p->max; value += tick) {
		fprintf(p->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n",
			LEFT, y_of(p, value), WIDTH - RIGHT);
		put_text(p, "tick end", LEFT - 8, y_of(p, value) + 4,
			 brief(value_text(p, text, value)));
		if (value > UINT64_MAX - tick)
			break;
	}
}

static void put_times(struct picture *p)
{
	uint64_t end = p->graph->axis.end_ns, tick = tick_of_time(end);
	struct buffer title = { 0 };

	for (uint64_t ns = 0; ns <= end; ns += tick) {
		fprintf(p->out, "<path class=\"axis\" d=\"M%.1f %dv5\"/>\n",
			x_of(p, ns), TOP + PLOT_HEIGHT);
		put_text(p, "tick middle", x_of(p, ns), TOP + PLOT_HEIGHT + 19,
			 ns == 0 ? "0" : brief(TIME_TEXT(ns)));
		if (ns > UINT64_MAX - tick)
			break;
	}
	fprintf(p->out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT,
		TOP, TOP + PLOT_HEIGHT, WIDTH - RIGHT);
	buffer_printf(&title, "time since the start; a step is %s",
		      TIME_TEXT(end / p->graph->axis.steps));
	put_text(p, "label middle", LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
		 TOP + PLOT_HEIGHT + 38, title.data);
	buffer_clear(&title);
	buffer_printf(&title, "%s%s", graph_meaning(p->graph->cost),
		      p->graph->cost == MEASURE_LIVE ?
		      " at a step's end" : " in a step");
	fprintf(p->out,
		"<text class=\"label middle\" transform=\"translate(16 "
		"%d) rotate(-90)\">%s</text>\n",
		TOP + PLOT_HEIGHT / 2, title.data);
	buffer_free(&title);
}

/* ---- series ---- */

/* The first series have distinct colours; then colours repeat in other
 * shades. */
static void put_class(struct picture *p, size_t series, const char *more)
{
	if (p->graph->list[series].of == GRAPH_OTHERS)
		fprintf(p->out, "class=\"s0 d0 %s\"", more);
	else
		fprintf(p->out, "class=\"s%zu d%zu %s\"",
			1 + series % COLOURS, series / COLOURS % DASHES, more);
}

static uint64_t max_of(const struct picture *p, size_t series)
{
	uint64_t max = 0;

	for (size_t i = 0; i < p->graph->axis.steps; i++)
		if (value_at(p, series, i) > max)
			max = value_at(p, series, i);
	return max;
}

static void put_tooltip(struct picture *p, size_t series)
{
	char text[QUANTITY_TEXT];
	struct buffer xml = { 0 };

	xml_text(&xml, p->graph->list[series].name);
	fprintf(p->out, "<title>%s: max %s</title>", xml.data,
		value_text(p, text, max_of(p, series)));
	buffer_free(&xml);
}

/* Draw the upper edge; equal values need no points. */
static void put_edge(struct picture *p, size_t series)
{
	const struct graph_series *one = &p->graph->list[series];
	double before = -1;

	for (size_t i = one->from; i < one->to; i++) {
		double y = y_of(p, p->base[i] + value_at(p, series, i));

		if (i == one->from)
			fprintf(p->out, "M%.1f %.1f", x_of_step(p, i), y);
		else if (y != before)
			fprintf(p->out, "H%.1fV%.1f", x_of_step(p, i), y);
		before = y;
	}
	fprintf(p->out, "H%.1f", x_of_step(p, one->to));
}

/* Draw back along the lower edge. */
static void put_base(struct picture *p, size_t series)
{
	const struct graph_series *one = &p->graph->list[series];
	double before = -1;

	for (size_t i = one->to; i > one->from; i--) {
		double y = y_of(p, p->base[i - 1]);

		if (i == one->to)
			fprintf(p->out, "V%.1f", y);
		else if (y != before)
			fprintf(p->out, "H%.1fV%.1f", x_of_step(p, i), y);
		before = y;
	}
	fprintf(p->out, "H%.1fZ", x_of_step(p, one->from));
}

static void put_series(struct picture *p, size_t series)
{
	bool stacked = p->graph->stacked;

	fputs("<path ", p->out);
	put_class(p, series, stacked ? "area" : "line");
	fputs(" d=\"", p->out);
	put_edge(p, series);
	if (stacked)
		put_base(p, series);
	fputs("\">", p->out);
	put_tooltip(p, series);
	fputs("</path>\n", p->out);
	for (size_t i = 0; stacked && i < p->graph->axis.steps; i++)
		p->base[i] += value_at(p, series, i);
}

/* ---- legend ---- */

static size_t legend_lines(const struct graph *graph)
{
	size_t lines = (graph->count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;

	return lines < LEGEND_MAX ? lines : LEGEND_MAX;
}

static void put_legend_entry(struct picture *p, size_t series, double x,
			     double y)
{
	struct buffer name = { 0 }, clean = { 0 }, max = { 0 };
	char text[QUANTITY_TEXT];

	fputs("<path ", p->out);
	if (p->graph->stacked) {
		put_class(p, series, "area");
		fprintf(p->out, " d=\"M%.1f %.1fh12v12h-12Z\"/>\n", x, y - 10);
	} else {
		put_class(p, series, "line");
		fprintf(p->out, " d=\"M%.1f %.1fh14\"/>\n", x - 1, y - 4);
	}
	utf8_add(&clean, p->graph->list[series].name);
	fit_middle(&name, clean.data, LEGEND_LETTERS);
	put_text(p, "name", x + 20, y, name.data);
	buffer_printf(&max, "max %s", value_text(p, text,
						      max_of(p, series)));
	put_text(p, "quiet end", x + (WIDTH - LEFT - RIGHT) /
		 (double)LEGEND_COLUMNS - 20, y, max.data);
	buffer_free(&max);
	buffer_free(&name);
	buffer_free(&clean);
}

static void put_legend(struct picture *p)
{
	const struct graph *graph = p->graph;
	size_t lines = legend_lines(graph);
	double width = (WIDTH - LEFT - RIGHT) / (double)LEGEND_COLUMNS;

	fputs("<g class=\"legend\">\n", p->out);
	for (size_t s = 0; s < graph->count && s < lines * LEGEND_COLUMNS; s++)
		put_legend_entry(p, s, LEFT + width * (double)(s / lines),
				 TOP + PLOT_HEIGHT + AXIS_HEIGHT + 12 +
				 LEGEND_LINE_HEIGHT * (double)(s % lines));
	fputs("</g>\n", p->out);
}

/* ---- the picture ---- */

static void put_head(struct picture *p)
{
	const struct graph *graph = p->graph;
	size_t height = TOP + PLOT_HEIGHT + AXIS_HEIGHT + 12 +
			LEGEND_LINE_HEIGHT * legend_lines(graph);
	struct buffer title = { 0 }, about = { 0 };

	xml_text(&title, graph->title.data);
	fprintf(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%zu\" viewBox=\"0 0 %d %zu\">\n<title>%s</title>\n"
		"<style>", WIDTH, height, WIDTH, height, title.data);
	buffer_clear(&title);
	xml_text(&title, graph_page_svg_css);
	fprintf(p->out, "%s</style>\n<rect class=\"ground\" width=\"100%%\" "
		"height=\"100%%\"/>\n", title.data);
	buffer_clear(&title);
	fit_middle(&title, graph->title.data, (WIDTH - 40) / 8);
	put_text(p, "title", 16, 24, title.data);
	buffer_clear(&title);
	buffer_printf(&about, "%s, %s", graph_meaning(graph->cost),
		      graph->about.data);
	fit_start(&title, about.data, (size_t)((WIDTH - 40) / LETTER_WIDTH));
	put_text(p, "quiet", 16, 44, title.data);
	buffer_free(&title);
	buffer_free(&about);
}

void graph_svg(const struct graph *graph, FILE *out)
{
	struct picture p = { .graph = graph, .out = out };

	p.max = find_max(&p);
	if (p.max == 0)
		p.max = 1;
	p.base = grow_zeroed(graph->axis.steps, sizeof(*p.base));
	put_head(&p);
	put_values(&p);
	for (size_t i = 0; i < graph->count; i++)
		put_series(&p, i);
	put_times(&p);
	put_legend(&p);
	fputs("</svg>\n", out);
	free(p.base);
}
