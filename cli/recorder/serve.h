/*
 * serve.h: how the writer does what threads ask of it (ask.h).
 */
#ifndef GNOMON_SERVE_H
#define GNOMON_SERVE_H

struct writer;

/* Answers whoever asks. Where the writer cannot follow the target's ids,
 * r->stop is set and its tie says so. The writer, in each round. */
void serve_pending(struct writer *w);

#endif
