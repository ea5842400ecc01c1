/*
 * http_guard.h: whether a request may be answered at all.
 *
 * Two kinds of strangers are kept out. A page of another site, open in the same
 * browser, can make that browser send requests here: its name then stands in
 * Origin; or it has made its own name mean this address (DNS rebinding), which
 * then stands in Host. Another machine or user has no token, where there is
 * one. No state; what is given is not trusted.
 */
#ifndef GNOMON_HTTP_GUARD_H
#define GNOMON_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct http_guard {
	const char *const *hosts;	/* names besides literal addresses */
	size_t host_count;
	bool loopback;		/* only addresses of loopback are ours; else
				 * any that is written as a number: such a one
				 * cannot have been made to mean us */
	const char *token;	/* NULL: none is needed */
	const char *cookie;	/* the name of the one that carries it */
};

/* Headers, NULL where there is none. */
struct http_heads {
	const char *host, *origin;
	const char *fetch_site;		/* Sec-Fetch-Site */
	const char *authorization, *cookies;
	const char *token;		/* a parameter, no header */
	bool navigation;	/* GET of the page itself: links may lead here */
};

enum http_verdict {
	HTTP_ALLOWED,
	HTTP_BAD_HOST,		/* 421 */
	HTTP_BAD_ORIGIN,	/* 403 */
	HTTP_NO_TOKEN		/* 401 */
};

enum http_verdict http_guard_judge(const struct http_guard *guard,
				   const struct http_heads *heads);
/* Is an address of the machine itself: "127.0.0.1", "::1"? */
bool http_guard_is_loopback(const char *address);
/* In a time that does not tell how much of it was right. */
bool http_guard_same(const char *secret, const char *given, size_t size);

#endif
