/*
 * repack_names.h: the part of repack.c for chunks other than events, nodes and
 * those of a ring: compress them anew, and change the names in them. Only
 * repack.c calls this.
 */
#ifndef GNOMON_REPACK_NAMES_H
#define GNOMON_REPACK_NAMES_H

#include "cli/trace/write/repack.h"

/* Each appends the new payload to repack->payload, which is empty. False:
 * malformed. */
bool repack_names_maps(struct repack *repack, struct cursor *c);
bool repack_names_code(struct repack *repack, struct cursor *c);
bool repack_names_snapshot(struct repack *repack, struct cursor *c);
bool repack_names_file(struct repack *repack, struct cursor *c);
bool repack_names_totals(struct repack *repack, struct cursor *c);
bool repack_names_control(struct repack *repack, struct cursor *c);
bool repack_names_live(struct repack *repack, struct cursor *c);

/* Replace the name with the new one, which is valid until the next call. */
void repack_names_change(struct repack *repack, enum repack_name what,
			 const char **name, size_t *size);
/* The new build-id, into `changed`, which has GL_BUILD_ID_MAX bytes. */
void repack_names_build_id(const struct repack *repack, uint8_t *changed,
			   const uint8_t *build_id, size_t size);

#endif
