/*
 * rest.h: the REST API: maps each URL to an action (docs/REST.md). One thread,
 * the front's.
 */
#ifndef GNOMON_REST_H
#define GNOMON_REST_H

#include "cli/serve/http.h"

/*
 * Start to answer a request whose body has arrived. Either sets
 * exchange->answer at once, or exchange->client.done sets it later.
 */
void rest_begin(struct exchange *exchange, const char *method, const char *url);

/* Whether If-None-Match of this request has the ETag of this key: the client
 * has the answer. */
bool rest_is_known(struct exchange *exchange, uint64_t key);

#endif
