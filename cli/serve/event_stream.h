/*
 * event_stream.h: GET /api/v1/events: sends changes of traces and progress to
 * each listening client as server-sent events (HTML standard, 9.2). A client
 * that does not read its events is disconnected and has to reconnect. One
 * thread, the front's.
 */
#ifndef GNOMON_EVENT_STREAM_H
#define GNOMON_EVENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/http.h"

/* How often to look for changes while a client listens. */
#define EVENT_STREAM_MS 250

/* Start an event stream for this client. False: out of memory or too many
 * clients. */
bool event_stream_begin(struct exchange *exchange);
/* Look for changes and send them. The loop may call it as often as it likes. */
void event_stream_poll(struct http *http);
/* End all streams. */
void event_stream_close(struct http *http);

#endif
