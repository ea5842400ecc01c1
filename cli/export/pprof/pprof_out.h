/*
 * pprof_out.h: a message of protocol buffers, written piece by piece and
 * compressed as gzip does on the way. Messages that are written one behind
 * the other are one message with all that is in them (the encoding of
 * protocol buffers says so), so nothing but the piece is ever in memory.
 * Called by the main thread.
 */
#ifndef GNOMON_PPROF_OUT_H
#define GNOMON_PPROF_OUT_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <zlib.h>

#define PPROF_OUT_BYTES 65536

struct pprof_out {
	ProtobufCBuffer sink;	/* first: what protobuf-c writes to */
	FILE *file;		/* its errors are its owner's to look at */
	z_stream stream;
	uint8_t raw[PPROF_OUT_BYTES];	/* not compressed yet */
	size_t raw_size;
	uint8_t packed[PPROF_OUT_BYTES];
};

void pprof_out_begin(struct pprof_out *out, FILE *file);
void pprof_out_message(struct pprof_out *out, const ProtobufCMessage *message);
void pprof_out_end(struct pprof_out *out);

#endif
