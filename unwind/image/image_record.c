/*
 * image_record.c: fills an image's record from the loader's data.
 *
 * Memory that may be unmapped is read by elfmap_copy only. Unwind tables are
 * not read before a walk reaches their code, which is then mapped, as it runs
 * (image_rules).
 *
 * Thread context: image_rules: any thread, also signal handlers; other
 * functions: the thread that scans or borrows (image.c).
 */
#include <elf.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/image/gdbjit.h"
#include "unwind/image/image.h"
#include "unwind/image/image_record.h"
#include "unwind/image/rule_files.h"
#include "unwind/rules/rules_image.h"

_Static_assert(GL_SEGMENTS_MAX <= RULES_SEGMENTS_MAX, "room for all");

static bool same_text(const char *a, const char *b, size_t n)
{
	for (; n && *a == *b; a++, b++, n--)
		if (!*a)
			return true;
	return n == 0;
}

/* Copies the build id; returns its size, 0 if there is none that fits. */
static uint32_t build_id(const struct elfmap *map, uint8_t *id)
{
	uint32_t size;

	if (elfmap_note(map, "GNU", NT_GNU_BUILD_ID, id, GL_BUILD_ID_MAX,
			&size) && size <= GL_BUILD_ID_MAX)
		return size;
	return 0;
}

static bool is_vdso(const char *path)
{
	return same_text(path, "linux-vdso", 10) ||
	       same_text(path, "linux-gate", 10);
}

bool image_record_possible(const struct elfmap *map)
{
	uint32_t i;

	for (i = 0; i < map->phnum; i++)
		if (map->phdr[i].p_type == PT_LOAD)
			return true;
	return false;
}

static bool in_segments(const struct gl_image *g, uintptr_t a, size_t n)
{
	uint32_t i;

	for (i = 0; i < g->segments; i++)
		if (a >= g->segment[i].start &&
		    a - g->segment[i].start <= g->segment[i].size &&
		    n <= g->segment[i].size - (a - g->segment[i].start))
			return true;
	return false;
}

/* Most images have one executable segment; others are found through the array
 * of ranges. */
static void add_code(struct image *image, uintptr_t start, uintptr_t end)
{
	bool first = image->code_end == 0;

	image->code_start = first ? start : UINTPTR_MAX;
	image->code_end = first ? end : UINTPTR_MAX;
}

static void add_segment(struct image *image, const ElfW(Phdr) *p)
{
	struct gl_image *g = image->public;
	uintptr_t start = image->bias + p->p_vaddr;
	struct gl_segment *s;

	if (image->start == 0 || start < image->start)
		image->start = start;
	if (start + p->p_memsz > image->end)
		image->end = start + p->p_memsz;
	if (p->p_flags & PF_X)
		add_code(image, start, start + p->p_memsz);
	if (g->segments == GL_SEGMENTS_MAX)
		return;
	s = &g->segment[g->segments++];
	s->start = start;
	s->size = p->p_memsz;
	s->offset = p->p_offset;
	s->flags = p->p_flags;
}

/* No program header locates the tables: reads the file's section headers. */
static void ask_file(const struct elfmap *map, image_find_section *find,
		     struct rules_sections *s)
{
	const char *path = map->path ? map->path : "";
	uint64_t address, size;
	unsigned i;

	if (s->eh_frame_hdr || s->exidx || is_vdso(path) || !find ||
	    !find(path, ".eh_frame", &address, &size))
		return;
	address = (uintptr_t)(address + map->bias);
	for (i = 0; i < s->segments; i++)
		if (address >= s->segment[i].start &&
		    address <= s->segment[i].end &&
		    size <= s->segment[i].end - address) {
			s->eh_frame = address;
			s->eh_frame_size = size;
			s->unverified = true;
			return;
		}
}

static void take_segment(struct rules_sections *s, uintptr_t start,
			 uintptr_t end, uint32_t flags)
{
	if (flags & PF_X) {
		if (flags & PF_R && end > start &&
		    end - start > s->code.end - s->code.start)
			s->code = (struct rules_range){ start, end };
		if (!s->text_start || start < s->text_start)
			s->text_start = start;
		if (end > s->text_end)
			s->text_end = end;
	}
	ASSERT(s->segments < RULES_SEGMENTS_MAX || !(flags & PF_R));
	if (flags & PF_R)
		s->segment[s->segments++] = (struct rules_range){ start, end };
}

/* Finds the segment that contains the tables. */
static void find_readable(struct rules_sections *s)
{
	uintptr_t tables = s->eh_frame_hdr ? s->eh_frame_hdr : s->eh_frame;
	unsigned i;

	for (i = 0; tables && i < s->segments; i++)
		if (tables >= s->segment[i].start &&
		    tables < s->segment[i].end) {
			s->readable_start = s->segment[i].start;
			s->readable_end = s->segment[i].end;
		}
}

void image_record_sections(const struct elfmap *map, image_find_section *find,
			   struct rules_sections *s)
{
	unsigned i, loads = 0;

	*s = (struct rules_sections){ .bias = map->bias };
	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *p = &map->phdr[i];
		uintptr_t start = map->bias + p->p_vaddr;

		if (p->p_type == PT_LOAD && loads++ < GL_SEGMENTS_MAX)
			take_segment(s, start, start + p->p_memsz, p->p_flags);
		if (ARCH_ELF_EXIDX && p->p_type == ARCH_ELF_EXIDX) {
			s->exidx = start;
			s->exidx_size = p->p_memsz;
		}
		if (p->p_type != PT_GNU_EH_FRAME)
			continue;
		s->eh_frame_hdr = start;
		s->eh_frame_hdr_size = p->p_memsz;
	}
	ask_file(map, find, s);
	find_readable(s);
}

/* The same, from the stored record. */
static void sections_again(const struct image *image,
			   struct rules_sections *s)
{
	const struct gl_image *g = image->public;
	uint32_t i;

	*s = (struct rules_sections){ .bias = image->bias,
				      .exidx = image->exidx,
				      .exidx_size = image->exidx_size,
				      .unverified = image->unverified };
	DEBUG_ASSERT(g->segments <= GL_SEGMENTS_MAX);
	for (i = 0; i < g->segments; i++)
		take_segment(s, g->segment[i].start,
			     g->segment[i].start + g->segment[i].size,
			     g->segment[i].flags);
	*(image->unverified ? &s->eh_frame : &s->eh_frame_hdr) = image->tables;
	*(image->unverified ? &s->eh_frame_size : &s->eh_frame_hdr_size) =
		image->tables_size;
	find_readable(s);
}

/* Readers compute in 64 bits. If an image lies below its link-time addresses, a
 * 32-bit bias has wrapped; it is stored as the negative number that it
 * means. */
static uint64_t bias_of(const struct image *image)
{
	uint64_t wraps = (uint64_t)UINTPTR_MAX + 1;	/* 0: of 64 bits */

	return image->bias > image->start && image->end ?
		       image->bias - wraps : image->bias;
}

void image_record_fill(struct image *image, const struct elfmap *map,
		       image_find_section *find)
{
	const char *path = map->path ? map->path : "";
	struct gl_image *g = image->public;
	struct rules_sections sections;
	uint32_t i;

	DEBUG_ASSERT(!image->end && !g->segments);
	image->link_map = map->link_map;
	image->stays = map->stays;
	image->bias = map->bias;
	for (i = 0; i < map->phnum; i++)
		if (map->phdr[i].p_type == PT_LOAD)
			add_segment(image, &map->phdr[i]);
	g->bias = bias_of(image);
	g->build_id_size = build_id(map, g->build_id);
	ASSERT(g->build_id_size <= GL_BUILD_ID_MAX);
	for (i = 0; path[i] && i < GL_IMAGE_PATH - 1; i++)
		g->path[i] = path[i];
	g->path[i] = 0;
	if (is_vdso(path))
		g->flags |= GT_IMAGE_VDSO;
	image_record_sections(map, find, &sections);
	image->unverified = sections.unverified;
	image->exidx = sections.exidx;
	image->exidx_size = sections.exidx_size;
	image->tables = sections.unverified ? sections.eh_frame :
					   sections.eh_frame_hdr;
	image->tables_size = sections.unverified ? sections.eh_frame_size :
						sections.eh_frame_hdr_size;
}

bool image_record_matches(const struct image *image, const struct elfmap *map)
{
	const char *path = map->path ? map->path : "";
	const struct gl_image *g = image->public;
	uint8_t id[GL_BUILD_ID_MAX];
	uint32_t i, size;

	if (image->bias != map->bias || image->link_map != map->link_map)
		return false;
	if (image->stays && map->stays)
		return true;
	if (!same_text(g->path, path, GL_IMAGE_PATH - 1))
		return false;
	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *p = &map->phdr[i];

		if (p->p_type == PT_LOAD &&
		    !in_segments(g, image->bias + p->p_vaddr, p->p_memsz) &&
		    g->segments < GL_SEGMENTS_MAX)
			return false;
	}
	size = build_id(map, id);
	if (size != g->build_id_size)
		return false;
	for (i = 0; i < size; i++)
		if (id[i] != g->build_id[i])
			return false;
	return true;
}

struct rules_image *image_rules(const struct image *image)
{
	struct rules_image **at = (struct rules_image **)&image->rules;
	struct rules_image *rules = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	struct rules_image *none = NULL;
	struct rules_sections sections;

	if (__builtin_expect(rules != NULL, 1))
		return rules;
	/* If two threads do this at once, one result is dropped; both are
	 * equal. */
	sections_again(image, &sections);
	rules = rules_image_new(&sections);
	if (rules)
		rule_files_find(image->public->build_id,
				image->public->build_id_size, image->bias,
				&rules->prepared);
	if (rules && !__atomic_compare_exchange_n(at, &none, rules, false,
						  __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE))
		rules = none;
	return rules;
}
