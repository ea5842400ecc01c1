/*
 * requests.h: the recorder handles requests of the target's threads
 * (request.h).
 */
#ifndef GNOMON_REQUESTS_H
#define GNOMON_REQUESTS_H

struct recorder;

/* Handles pending requests. Where the recorder cannot take on the target's user
 * and group ids, it sets r->stop and its tie says so. The recorder, in each
 * round. */
void requests_poll(struct recorder *rec);

#endif
