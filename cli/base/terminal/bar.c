/*
 * bar.c: see the header. Called by the main thread only.
 *
 * update is called often; it reads the clock only every CALLS_PER_LOOK calls,
 * and draws at most ten times a second.
 */
#include "cli/base/terminal/bar.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"

#define CALLS_PER_LOOK 16
#define TIMEOUT_NS UINT64_C(1000000000)
#define REDRAW_NS UINT64_C(100000000)
#define BAR_CELLS 40

static struct {
	const char *what;
	uint64_t total;
	uint64_t start_ns;
	uint64_t drawn_ns;
	unsigned calls;
	bool active;
	bool visible;
} bar;

static uint64_t now_ns(void)
{
	struct timespec now;

	/* CLOCK_MONOTONIC always exists: the call cannot fail. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
		(uint64_t)now.tv_nsec;
}

static void begin(const char *what, uint64_t total)
{
	bar.what = what;
	bar.total = total;
	bar.start_ns = now_ns();
	bar.drawn_ns = 0;
	bar.calls = 0;
	bar.visible = false;
	bar.active = !log_is_quiet() && isatty(STDERR_FILENO);
}

static void draw(uint64_t done)
{
	char cells[BAR_CELLS + 1];
	unsigned filled = 0;

	if (bar.total != 0 && done < bar.total)
		filled = (unsigned)((double)done / (double)bar.total *
				    BAR_CELLS);
	else if (bar.total != 0)
		filled = BAR_CELLS;
	assert(filled <= BAR_CELLS);
	memset(cells, ' ', BAR_CELLS);
	memset(cells, '#', filled);
	cells[BAR_CELLS] = 0;
	if (bar.total != 0)
		fprintf(stderr, "\r%-20s [%s] %3u%%", bar.what, cells,
			filled * 100 / BAR_CELLS);
	else
		fprintf(stderr, "\r%-20s %llu", bar.what,
			(unsigned long long)done);
	fflush(stderr);
	bar.visible = true;
}

static void update(uint64_t done)
{
	uint64_t now;

	if (!bar.active || ++bar.calls % CALLS_PER_LOOK != 0)
		return;
	now = now_ns();
	if (now - bar.start_ns < TIMEOUT_NS || now - bar.drawn_ns < REDRAW_NS)
		return;
	bar.drawn_ns = now;
	draw(done);
}

void bar_clear(void)
{
	if (!bar.visible)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	bar.visible = false;
}

static void end(void)
{
	bar_clear();
	bar.active = false;
}

const struct progress_hook bar_hook = { begin, update, end };
