/*
 * repack_names.h: the part of repack.c for chunks that are neither events nor
 * nodes nor bound to a ring: they are compressed anew, and the names in them
 * may be changed. Only repack.c calls this.
 */
#ifndef GNOMON_REPACK_NAMES_H
#define GNOMON_REPACK_NAMES_H

#include "cli/trace/write/repack.h"

/* Each adds the new payload to repack->payload, which is empty. False: the
 * content makes no sense. */
bool repack_names_maps(struct repack *repack, struct cursor *c);
bool repack_names_code(struct repack *repack, struct cursor *c);
bool repack_names_snapshot(struct repack *repack, struct cursor *c);
bool repack_names_file(struct repack *repack, struct cursor *c);
bool repack_names_totals(struct repack *repack, struct cursor *c);
bool repack_names_control(struct repack *repack, struct cursor *c);
bool repack_names_live(struct repack *repack, struct cursor *c);

/* The name as it is to be, valid until the next. */
void repack_names_change(struct repack *repack, enum repack_name what,
			 const char **name, size_t *size);
/* The build-id as it is to be, in `changed`, which has GL_BUILD_ID_MAX bytes. */
void repack_names_build_id(const struct repack *repack, uint8_t *changed,
			   const uint8_t *build_id, size_t size);

#endif
