/*
 * live_order.c: see live_order.h. The structs are copies of the caller's own,
 * not shared. Text and single bytes have no byte order.
 */
#include "cli/trace/live/live_order.h"

#include <assert.h>

/* Fields of 4 or 8 bytes, also atomic ones. */
#define TURN(field) ((field) = sizeof(field) == 8 ? \
	__builtin_bswap64((uint64_t)(field)) : \
	__builtin_bswap32((uint32_t)(field)))

static_assert(sizeof(struct gl_header) == 160 + GT_PATH_MAX,
	      "a field of the header is not converted");
static_assert(sizeof(struct gl_image) == 32 + 32 * GL_SEGMENTS_MAX +
	      GL_BUILD_ID_MAX + GL_IMAGE_PATH,
	      "a field of an image is not converted");

bool live_order_header(struct gl_header *header)
{
	if (header->version != __builtin_bswap32(GL_VERSION))
		return false;
	TURN(header->magic);
	TURN(header->version);
	TURN(header->header_size);
	TURN(header->trace_id);
	TURN(header->pid);
	TURN(header->recorder_pid);
	TURN(header->start_time);
	TURN(header->tick_shift);
	TURN(header->window_ticks);
	TURN(header->size);
	TURN(header->images_offset);
	TURN(header->nodes_offset);
	TURN(header->rings_offset);
	TURN(header->data_offset);
	TURN(header->counter0);
	TURN(header->monotonic0_ns);
	TURN(header->realtime0_ns);
	TURN(header->node_count);
	TURN(header->image_count);
	TURN(header->dropped);
	TURN(header->node_limit);
	TURN(header->ring_count);
	TURN(header->error);
	TURN(header->shared_offset);
	TURN(header->view);
	return true;
}

void live_order_ring(struct gl_ring *ring)
{
	TURN(ring->busy);
	TURN(ring->head);
	TURN(ring->limit);
	TURN(ring->base);
	TURN(ring->stamp);
	TURN(ring->owner);
	TURN(ring->data);
	TURN(ring->mask);
	TURN(ring->tail);
	TURN(ring->waiting);
	TURN(ring->state);
	TURN(ring->id);
	TURN(ring->generation);
	TURN(ring->tid);
	TURN(ring->flags);
	TURN(ring->offset);
	TURN(ring->start_stamp);
	TURN(ring->dropped);
	TURN(ring->pointer);
}

void live_order_node(struct gl_node *node)
{
	TURN(node->address);
	TURN(node->parent);
	TURN(node->flags);
}

void live_order_image(struct gl_image *image)
{
	TURN(image->state);
	TURN(image->flags);
	TURN(image->first_node);
	TURN(image->end_node);
	TURN(image->bias);
	TURN(image->segments);
	TURN(image->build_id_size);
	for (unsigned i = 0; i < GL_SEGMENTS_MAX; i++) {
		TURN(image->segment[i].start);
		TURN(image->segment[i].size);
		TURN(image->segment[i].offset);
		TURN(image->segment[i].flags);
	}
}
