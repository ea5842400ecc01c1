/*
 * event_stream.h: GET /api/v1/events: what happens, told to each client that
 * listens, as server-sent events (HTML standard, 9.2). One that does not take
 * them is cut off, and asks anew. One thread, the front's.
 */
#ifndef GNOMON_EVENT_STREAM_H
#define GNOMON_EVENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/http.h"

/* How often is looked for what is new, while somebody listens. */
#define EVENT_STREAM_MS 250

/* Begin to tell this client. False: there is no memory. */
bool event_stream_begin(struct exchange *exchange);
/* Look, and tell; from the loop, as often as it likes. */
void event_stream_look(struct http *http);
/* All end. */
void event_stream_close(struct http *http);

#endif
