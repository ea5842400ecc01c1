/*
 * report_nameless.c: see report.h. Called by the main thread.
 *
 * Libraries are sorted by the cost of sites in their nameless functions, if
 * sites are known without more symbol look-ups: with a profile, or by site. If
 * none of these reaches a hundredth, it lists the libraries whose nameless
 * functions were shown.
 */
#include "cli/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/symbol/files/dpkg.h"

#define NAMED_MAX 3		/* libraries that are listed */
#define PART_MIN 100		/* libraries below 1/100 of the cost are left */
				/* out, if there are others */

struct lacking {
	const char *library;
	uint64_t value;
	const struct image *image;	/* NULL: unknown */
};

struct lackings {
	struct lacking *list;
	size_t count;
	size_t capacity;
	enum measure key;
};

static void add(struct lackings *all, const char *library, uint64_t value)
{
	size_t i = 0;

	while (i < all->count && strcmp(all->list[i].library, library) != 0)
		i++;
	if (i == all->count) {
		GROW(all->list, all->count, all->capacity);
		all->list[all->count++] = (struct lacking){ library, 0, NULL };
	}
	all->list[i].value += value;
}

static void add_selves(struct lackings *all, const struct report *r)
{
	const struct profile *profile = r->profile;

	for (size_t i = 0; i < profile->self_count; i++) {
		const struct profile_self *self = &profile->self_costs[i];
		uint32_t node = profile_site(profile, self->node);
		const struct profile_frame *frame =
			&profile->frames[profile->nodes[node].frame];

		if (node != PROFILE_ROOT && frame->nameless)
			add(all, frame->library, figures_value(&self->figures,
							all->key, r->end_ns));
	}
}

static void add_sites(struct lackings *all, const struct report *r)
{
	const struct contexts *contexts = model_contexts(r->model);

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const char *library = frames_site_nameless(
			r->frames, contexts->costs[i].node);
		struct figures figures;

		if (library != NULL && report_keeps(r, i, &figures))
			add(all, library, figures_value(&figures, all->key,
							r->end_ns));
	}
}

static int by_value(const void *a, const void *b)
{
	const struct lacking *x = a, *y = b;

	return sort_down(x->value, y->value) ?: strcmp(x->library, y->library);
}

/* Keeps only libraries with a noticeable cost. */
static void drop_small(struct lackings *all, uint64_t whole)
{
	size_t i = 0;

	while (i < all->count && all->list[i].value > 0 &&
	       all->list[i].value >= whole / PART_MIN)
		i++;
	all->count = i;
}

static void find_images(struct lackings *all, const struct report *r)
{
	const struct images *images =
		r->model == NULL ? NULL : model_images(r->model);

	for (size_t i = 0; images != NULL && i < all->count; i++)
		for (size_t j = 0; j < images->count; j++) {
			const struct image *image = &images->list[j];

			if (strcmp(image->name, all->list[i].library) == 0)
				all->list[i].image = image;
		}
}

static void find(struct lackings *all, const struct report *r)
{
	const char *const *seen;
	size_t count = 0;

	if (r->profile != NULL)
		add_selves(all, r);
	else
		add_sites(all, r);
	SORT(all->list, all->count, by_value);
	drop_small(all, report_whole(r, all->key));
	if (all->count == 0 && r->frames != NULL) {
		seen = frames_nameless(r->frames, &count);
		for (size_t i = 0; i < count; i++)
			add(all, seen[i], 0);
	}
	find_images(all, r);
}

/* ---- what to do ---- */

/* Whether /etc/os-release says Debian, which has its own debuginfod server. */
static bool is_debian(const char *root)
{
	char *path = grow_format("%s/etc/os-release", root), line[256];
	FILE *file = fopen(path, "re");
	bool found = false;

	free(path);
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		found |= strcmp(line, "ID=debian\n") == 0;
	if (file != NULL)
		fclose(file);
	return found;
}

/* The C library's debug package has another name on Debian. */
static void add_package(struct buffer *text, const char *package)
{
	buffer_printf(text, " %s%s", package, strcmp(package, "libc6") == 0 ?
		      "-dbg" : "-dbgsym");
}

static void add_packages(struct buffer *text, const struct lackings *all,
			 const char *root)
{
	const char *paths[NAMED_MAX];
	char *packages[NAMED_MAX];
	size_t count = all->count < NAMED_MAX ? all->count : NAMED_MAX;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		paths[i] = all->list[i].image ? all->list[i].image->path : "";
	dpkg_owners(root, paths, count, packages);
	for (size_t i = 0; i < count; i++) {
		bool known = packages[i] == NULL;

		for (size_t j = 0; j < i && !known; j++)
			known = packages[j] != NULL &&
				strcmp(packages[i], packages[j]) == 0;
		if (known)
			continue;
		buffer_string(text, any ? "" : " install");
		add_package(text, packages[i]);
		any = true;
	}
	for (size_t i = 0; i < count; i++)
		free(packages[i]);
	if (any)
		buffer_string(text, ", or");
}

/* The path for the debug file of the first library. */
static void add_debug_path(struct buffer *text, const struct lackings *all,
			   const char *root)
{
	const struct image *image = all->list[0].image;

	if (image == NULL || image->build_id_size < 2)
		return;
	buffer_printf(text, " put its debug file at %s/usr/lib/debug/"
		      ".build-id/%02x/", root, image->build_id[0]);
	for (size_t i = 1; i < image->build_id_size; i++)
		buffer_printf(text, "%02x", image->build_id[i]);
	buffer_string(text, ".debug, or");
}

static void add_debuginfod(struct buffer *text, const struct report *r,
			   const char *root)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool set = urls != NULL && urls[strspn(urls, " ")] != 0;

	if (set && r->places->no_debuginfod)
		buffer_string(text, " leave out --no-debuginfod, or");
	else if (!set)
		buffer_printf(text, " set DEBUGINFOD_URLS%s, or",
			      is_debian(root) ?
			      "=https://debuginfod.debian.net" : "");
}

static void report(const struct lackings *all, const struct report *r)
{
	const char *root = r->places->sysroot ? r->places->sysroot : "";
	uint64_t whole = report_whole(r, all->key);
	LOCAL_BUFFER text = { 0 };
	size_t before;

	for (size_t i = 0; i < all->count && i < NAMED_MAX; i++) {
		const struct lacking *one = &all->list[i];

		buffer_printf(&text, "%s%s", i ? ", " : "", one->library);
		if (one->value > 0 && whole > 0)
			buffer_printf(&text, " (%s of %s)",
				      PERCENT_TEXT(one->value, whole),
				      measure_kinds[all->key].name);
	}
	if (all->count > NAMED_MAX)
		buffer_printf(&text, " and %zu more",
			      all->count - NAMED_MAX);
	buffer_string(&text, ": functions without names:");
	before = text.size;
	add_packages(&text, all, root);
	if (text.size == before)
		add_debug_path(&text, all, root);
	add_debuginfod(&text, r, root);
	buffer_string(&text, " give the place of their symbols with -d");
	buffer_printable(&text);
	log_note("%s", text.data);
}

void report_nameless(const struct report *r)
{
	struct lackings all = {
		.key = report_order(r, MEASURE_TOTAL),
	};

	/* The summary already says that names are made up. */
	if (log_is_quiet() || (r->model != NULL && model_made_up(r->model) ==
			       MODEL_NAMES_AND_BUILD_IDS))
		return;
	find(&all, r);
	/* If stdout and stderr are one file, the note must follow the report;
	 * write errors are detected when the report is closed. */
	fflush(r->out);
	if (all.count > 0)
		report(&all, r);
	free(all.list);
}
