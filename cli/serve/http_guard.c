/*
 * http_guard.c: see http_guard.h.
 */
#include "cli/serve/http_guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX 256		/* a DNS name has at most 253 */
#define BEARER "Bearer "

bool http_guard_is_loopback(const char *address)
{
	struct in_addr four;
	struct in6_addr six;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &six) == 1 &&
		IN6_IS_ADDR_LOOPBACK(&six);
}

static bool is_address(const char *text)
{
	struct in6_addr any;

	return inet_pton(AF_INET, text, &any) == 1 ||
		inet_pton(AF_INET6, text, &any) == 1;
}

/* The name in "name:port" or "[address]:port", into `name`. */
static bool take_name(const char *host, char name[HOST_MAX])
{
	const char *end;
	size_t digits;

	if (host[0] == '[') {
		end = strchr(++host, ']');
		if (end == NULL || (size_t)(end - host) >= HOST_MAX)
			return false;
		memcpy(name, host, (size_t)(end - host));
		name[end - host] = 0;
		end++;
	} else {
		end = host + strcspn(host, ":");
		if (end == host || (size_t)(end - host) >= HOST_MAX)
			return false;
		memcpy(name, host, (size_t)(end - host));
		name[end - host] = 0;
	}
	if (*end == 0)
		return true;
	digits = *end == ':' ? strspn(end + 1, "0123456789") : 0;
	return digits > 0 && digits <= 5 && end[1 + digits] == 0;
}

static bool is_ours(const struct http_guard *guard, const char *host)
{
	char name[HOST_MAX];

	if (host == NULL || !take_name(host, name))
		return false;
	if (is_address(name))
		return !guard->loopback || http_guard_is_loopback(name);
	if (strcasecmp(name, "localhost") == 0)
		return true;
	for (size_t i = 0; i < guard->host_count; i++)
		if (strcasecmp(name, guard->hosts[i]) == 0)
			return true;
	return false;
}

/* "http://HOST", or https behind a proxy. */
static bool is_same_origin(const char *origin, const char *host)
{
	if (strncmp(origin, "http://", 7) == 0)
		return strcasecmp(origin + 7, host) == 0;
	return strncmp(origin, "https://", 8) == 0 &&
		strcasecmp(origin + 8, host) == 0;
}

/* Whether a page of another site made the browser send the request. */
static bool is_foreign(const struct http_heads *heads)
{
	const char *site = heads->fetch_site;

	if (heads->origin != NULL)
		return !is_same_origin(heads->origin, heads->host);
	return site != NULL && !heads->navigation &&
		strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

bool http_guard_same(const char *secret, const char *given, size_t size)
{
	size_t length = strlen(secret);
	unsigned char differs = length != size;

	for (size_t i = 0; i < size; i++)
		differs |= (unsigned char)(given[i] ^
					   secret[length == 0 ? 0 :
						  i % length]);
	return differs == 0;
}

static bool has_cookie(const struct http_guard *guard, const char *cookies)
{
	size_t size = strlen(guard->cookie);

	while (*cookies != 0) {
		size_t length = strcspn(cookies, ";");

		if (length > size && cookies[size] == '=' &&
		    strncmp(cookies, guard->cookie, size) == 0 &&
		    http_guard_same(guard->token, cookies + size + 1,
				    length - size - 1))
			return true;
		cookies += length;
		cookies += strspn(cookies, "; ");
	}
	return false;
}

static bool has_token(const struct http_guard *guard,
		      const struct http_heads *heads)
{
	const char *given = heads->authorization;

	if (guard->token == NULL)
		return true;
	if (given != NULL && strncasecmp(given, BEARER, strlen(BEARER)) == 0 &&
	    http_guard_same(guard->token, given + strlen(BEARER),
			    strlen(given) - strlen(BEARER)))
		return true;
	if (heads->token != NULL && http_guard_same(guard->token, heads->token,
						    strlen(heads->token)))
		return true;
	return heads->cookies != NULL && has_cookie(guard, heads->cookies);
}

enum http_verdict http_guard_check(const struct http_guard *guard,
				   const struct http_heads *heads)
{
	if (!is_ours(guard, heads->host))
		return HTTP_BAD_HOST;
	if (is_foreign(heads))
		return HTTP_BAD_ORIGIN;
	return has_token(guard, heads) ? HTTP_ALLOWED : HTTP_NO_TOKEN;
}
