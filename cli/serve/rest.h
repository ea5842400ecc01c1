/*
 * rest.h: what each URL means (docs/REST.md). One thread, the front's.
 */
#ifndef GNOMON_REST_H
#define GNOMON_REST_H

#include "cli/serve/http.h"

/*
 * Begin to answer a request whose body is there. Then exchange->answer is set, or
 * will be by exchange->client.done.
 */
void rest_begin(struct exchange *exchange, const char *method, const char *url);

/* What an If-None-Match of this exchange says of an answer that would have this
 * key: the client has it. */
bool rest_is_known(struct exchange *exchange, uint64_t key);

#endif
