/*
 * http_guard.h: decides whether a request may be answered.
 *
 * It keeps out two attacks. A page of another site in the same browser can send
 * requests here: Origin then names that site. Or that site's name resolves to
 * this address (DNS rebinding): Host then has that name. Other machines and
 * users lack the token, if one is required. No state; all input is untrusted.
 */
#ifndef GNOMON_HTTP_GUARD_H
#define GNOMON_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct http_guard {
	const char *const *hosts;	/* allowed names besides literal
					 * addresses */
	size_t host_count;
	bool loopback;		/* allow only loopback addresses as Host; else
				 * any literal address: DNS rebinding needs a
				 * name */
	const char *token;	/* NULL: none required */
	const char *cookie;	/* name of the cookie with the token */
};

/* Headers of a request; NULL: absent. */
struct http_heads {
	const char *host, *origin;
	const char *fetch_site;		/* Sec-Fetch-Site */
	const char *authorization, *cookies;
	const char *token;		/* from the URL's parameter */
	bool navigation;	/* GET of the page: links from other sites may
				 * lead here */
};

enum http_verdict {
	HTTP_ALLOWED,
	HTTP_BAD_HOST,		/* 421 */
	HTTP_BAD_ORIGIN,	/* 403 */
	HTTP_NO_TOKEN		/* 401 */
};

enum http_verdict http_guard_check(const struct http_guard *guard,
				   const struct http_heads *heads);
/* Is it a loopback address: "127.0.0.1", "::1"? */
bool http_guard_is_loopback(const char *address);
/* Compares in constant time, so timing does not reveal how much matched. */
bool http_guard_same(const char *secret, const char *given, size_t size);

#endif
