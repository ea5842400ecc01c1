/*
 * serve.h: the writer handles requests of the target's threads (ask.h).
 */
#ifndef GNOMON_SERVE_H
#define GNOMON_SERVE_H

struct writer;

/* Handles pending requests. Where the writer cannot take on the target's user
 * and group ids, it sets r->stop and its tie says so. The writer, in each
 * round. */
void serve_pending(struct writer *w);

#endif
