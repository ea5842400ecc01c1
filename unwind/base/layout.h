/*
 * layout.h: structures of the unwinder that other processes read: the nodes of
 * the context tree, the images that their addresses belong to, and the reasons
 * why walks end. They are part of the live file (preload/format.h), so their
 * layout is fixed, in the target's own byte order (byte_order.h).
 */
#ifndef GNOMON_UNWIND_LAYOUT_H
#define GNOMON_UNWIND_LAYOUT_H

#include <stdint.h>

#include "unwind/base/byte_order.h"

#define GL_IMAGES_MAX 2048	/* mapped during the whole run */
#define GL_SEGMENTS_MAX 8
#define GL_IMAGE_PATH 512
#define GL_BUILD_ID_MAX 32

enum gt_image_flags { GT_IMAGE_MAIN = 1, GT_IMAGE_VDSO = 2, GT_IMAGE_LATE = 4 };

/* Why a walk ended. GT_STOP_BOTTOM is the root itself. */
enum gt_stop {
	GT_STOP_BOTTOM,		/* the outermost frame was reached */
	GT_STOP_NO_IMAGE,	/* pc in no known image and in no code */
	GT_STOP_NO_RULE,	/* image known, no table entry, fp
				 * implausible */
	GT_STOP_BAD_READ,	/* a word of the stack could not be read */
	GT_STOP_NO_PROGRESS,	/* the next frame would not lie outward */
	GT_STOP_TOO_DEEP,	/* more frames than the limit */
	GT_STOP_BAD_TABLE,	/* the table's entry is malformed */
	GT_STOP_LOADER,		/* images changed during the walk */
	GT_STOP_NO_MEMORY,	/* no room for nodes or frames */
	GT_STOP_EARLY,		/* before the unwinder was ready */
	GT_STOP_OTHER,
	GT_STOP_JIT,		/* code made at run time, without a table, fp
				 * implausible */
	GT_STOP_DEPTH,		/* frames were omitted on request */
	GT_STOP_COUNT = 16
};

/* How a thread's stacks are captured (docs/ARCHITECTURE.md, tiers). */
enum gt_mode {
	GT_MODE_BARRIERS,	/* path cache, shadow join, barriers */
	GT_MODE_VALIDATE,	/* the same without barriers */
	GT_MODE_OFF,		/* every stack is walked in full */
	GT_MODE_HARDWARE,	/* read from the hardware shadow stack */
	GT_MODE_PLAIN,		/* no capture state: no memory for one */
	GT_MODE_COUNT
};

/* Why a thread runs in its mode. */
enum gt_mode_why {
	GT_WHY_DEFAULT,		/* the default mode */
	GT_WHY_ASKED,		/* the option shadow-stack */
	GT_WHY_HARDWARE,	/* a hardware shadow stack is active */
	GT_WHY_UNWINDER,	/* an exception unwinder that cannot pass stubs */
	GT_WHY_RUNTIME,		/* a runtime that walks or moves its stacks */
	GT_WHY_HIJACKED,	/* another tool replaces return addresses */
	GT_WHY_STUBS,		/* the stubs' table cannot be written, or is full */
	GT_WHY_MEMORY,		/* no memory within the budget */
	GT_WHY_CODE,		/* code without unwind tables was analysed */
	GT_WHY_COUNT
};

ORDER_BEGIN

/* One node of the context tree; complete before its id is published. */
struct gl_node {
	uint64_t address;
	uint32_t parent;
	uint32_t flags;		/* GL_NODE_DEAD; other bits: context.h */
};
enum { GL_NODE_DEAD = 1 };

struct gl_segment {
	uint64_t start;		/* run-time address */
	uint64_t size;
	uint64_t offset;	/* in the file */
	uint32_t flags;		/* ELF p_flags */
	uint32_t reserved;
};

struct gl_image {
	order_32 state;	/* 0 unused, 1 complete */
	uint32_t flags;		/* enum gt_image_flags */
	uint32_t first_node;
	order_32 end_node;	/* 0 while it is mapped */
	uint64_t bias;		/* run-time minus link-time addresses, in 64
				 * bits */
	uint32_t segments;
	uint32_t build_id_size;
	struct gl_segment segment[GL_SEGMENTS_MAX];
	uint8_t build_id[GL_BUILD_ID_MAX];
	char path[GL_IMAGE_PATH];	/* NUL-terminated, "" unknown */
};

ORDER_END

_Static_assert(sizeof(struct gl_node) == 16, "nodes are two words");

#endif
