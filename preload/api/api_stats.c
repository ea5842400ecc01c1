/*
 * api_stats.c: the functions of gnomon/gnomon.h that return numbers. The
 * recorder answers from the live heap (blocks_request.h). Threads of the
 * target, outside of hooks.
 */
#include "preload/api/api_init.h"

#include <errno.h>
#include <string.h>

#include "preload/api/api.h"
#include "preload/ring/blocks_request.h"
#include "stub/functions.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/linkmap.h"

/* Names that a program refers to, or a stub that is part of it, if it needs the
 * block table. */
static const char *const stats_names[] = {
	"gnomon_summarize", "gnomon_histograms", "gnomon_dump",
	"gnomon_dump_to", "gnomon_stats_every", "gnomon_numbers"
};

/* linkmap_each callback: sets *data if the image imports one of the names.
 * libgnomon-stub imports them, too, but calls none by itself. Libraries
 * loaded after the start make the recorder maintain the block table by their
 * first call. */
static int stats_imported(const struct elfmap *map, void *data)
{
	static const char stub[] = "libgnomon-stub.so";
	char soname[sizeof(stub)] = "";

	if (!map->stays ||
	    !dynsym_imports(map, stats_names,
			    sizeof(stats_names) / sizeof(*stats_names)))
		return 0;
	/* the version does not fit into soname */
	if (!dynsym_soname(map, soname, sizeof(soname)) &&
	    memcmp(soname, stub, sizeof(stub) - 1) == 0)
		return 0;
	*(bool *)data = true;
	return 1;
}

bool api_stats_wanted(void)
{
	struct linkmap_room room;
	bool wanted = false;

	linkmap_each(stats_imported, &wanted, &room, NULL);
	return wanted;
}

/*
 * 0 or an error; -ENOMEM: there is an answer, but it is incomplete. `answer` is
 * zero if there is none.
 */
static int stats_request(enum blocks_request_kind what, uint32_t ring,
			 void *answer, size_t bytes)
{
	int err = api_may_request();

	memset(answer, 0, bytes);
	if (err)
		return err;
	blocks_want(producer, BLOCKS_FOR_API);
	return blocks_request(producer, what, ring, answer, bytes);
}

API(int, summarize, (enum gnomon_who who, struct gnomon_summary *summary))
{
	const struct producer *p = api_producer();
	const struct thread *thread = producer_tls;

	if (!summary || (who != GNOMON_THREAD && who != GNOMON_ALL))
		return -EINVAL;
	if (who == GNOMON_ALL)
		return stats_request(BLOCKS_REQUEST_SUM, 0, summary,
				     sizeof(*summary));
	if (!p || thread)
		return stats_request(BLOCKS_REQUEST_THREAD,
				     p ? thread - p->threads : 0, summary,
				     sizeof(*summary));
	/* the thread is not recorded */
	*summary = (struct gnomon_summary){ 0 };
	return 0;
}

API(int, histograms, (struct gnomon_sizes *sizes))
{
	if (!sizes)
		return -EINVAL;
	return stats_request(BLOCKS_REQUEST_CLASSES, 0, sizes, sizeof(*sizes));
}
