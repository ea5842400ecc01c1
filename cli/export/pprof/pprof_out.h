/*
 * pprof_out.h: writes a protocol buffers message piece by piece, compressed
 * with gzip. By the protocol buffers encoding, concatenated messages are one
 * message with all their fields. So only one piece is in memory at a time.
 * Called by the main thread.
 */
#ifndef GNOMON_PPROF_OUT_H
#define GNOMON_PPROF_OUT_H

#include <protobuf-c/protobuf-c.h>

#include "cli/export/compressed_file.h"

struct pprof_out {
	ProtobufCBuffer sink;	/* first: what protobuf-c writes to */
	struct compressed_file compressed;
};

static inline void pprof_out_append(ProtobufCBuffer *sink, size_t size,
				    const uint8_t *bytes)
{
	compressed_file_bytes(&((struct pprof_out *)sink)->compressed, bytes,
			      size);
}

static inline void pprof_out_message(struct pprof_out *out,
				     const ProtobufCMessage *message)
{
	out->sink.append = pprof_out_append;
	protobuf_c_message_pack_to_buffer(message, &out->sink);
}

/* Write a piece of a profile (profile.pb-c.h) that has only one list: `count`
 * pointers to messages. */
#define PPROF_OUT_LIST(out, member, pointers, count)			\
	do {								\
		Pprof__Profile piece = PPROF__PROFILE__INIT;		\
									\
		piece.n_##member = (count);				\
		piece.member = (pointers);				\
		pprof_out_message((out), &piece.base);			\
	} while (0)

#endif
