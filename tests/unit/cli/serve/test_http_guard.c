/* test_http_guard.c: who may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve/http_guard.h"

static const char *const hosts[] = { "box.example" };

static enum http_verdict host(const char *name, bool loopback)
{
	const struct http_guard guard = {
		.hosts = hosts, .host_count = 1, .loopback = loopback,
	};
	const struct http_heads heads = { .host = name };

	return http_guard_check(&guard, &heads);
}

static void names(void **state)
{
	static const char *const good[] = {
		"localhost", "LocalHost:8080", "127.0.0.1", "127.3.2.1:9",
		"[::1]:80", "box.example:1",
	}, *const bad[] = {
		"", ":80", "evil.example", "localhost.evil", "127.0.0.1.evil",
		"localhost:", "localhost:x", "localhost:123456", "[::1", "[]",
		"[::1]x", "10.0.0.1", "[::2]", "localhost:80:80", "2130706433",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(host(good[i], true), HTTP_ALLOWED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(host(bad[i], true), HTTP_BAD_HOST);
	assert_int_equal(host(NULL, true), HTTP_BAD_HOST);
	assert_int_equal(host("10.0.0.1:80", false), HTTP_ALLOWED);
	assert_int_equal(host("[fe80::1]", false), HTTP_ALLOWED);
	assert_int_equal(host("evil.example", false), HTTP_BAD_HOST);
}

static enum http_verdict origin(const char *from, const char *site,
				bool navigation)
{
	const struct http_guard guard = { .loopback = true };
	const struct http_heads heads = {
		.host = "localhost:80", .origin = from, .fetch_site = site,
		.navigation = navigation,
	};

	return http_guard_check(&guard, &heads);
}

static void sites(void **state)
{
	(void)state;
	assert_int_equal(origin(NULL, NULL, false), HTTP_ALLOWED);
	assert_int_equal(origin("http://localhost:80", NULL, false),
			 HTTP_ALLOWED);
	assert_int_equal(origin("https://LOCALHOST:80", "same-origin", false),
			 HTTP_ALLOWED);
	assert_int_equal(origin("http://localhost:81", NULL, false),
			 HTTP_BAD_ORIGIN);
	assert_int_equal(origin("null", NULL, true), HTTP_BAD_ORIGIN);
	assert_int_equal(origin("", NULL, false), HTTP_BAD_ORIGIN);
	assert_int_equal(origin(NULL, "cross-site", false), HTTP_BAD_ORIGIN);
	assert_int_equal(origin(NULL, "same-site", false), HTTP_BAD_ORIGIN);
	assert_int_equal(origin(NULL, "cross-site", true), HTTP_ALLOWED);
	assert_int_equal(origin("http://evil", "cross-site", true),
			 HTTP_BAD_ORIGIN);
}

static enum http_verdict token(const char *authorization, const char *cookies,
			       const char *parameter)
{
	const struct http_guard guard = {
		.loopback = true, .token = "secret12", .cookie = "gnomon-80",
	};
	const struct http_heads heads = {
		.host = "localhost", .authorization = authorization,
		.cookies = cookies, .token = parameter,
	};

	return http_guard_check(&guard, &heads);
}

static void tokens(void **state)
{
	(void)state;
	assert_int_equal(token(NULL, NULL, NULL), HTTP_NO_TOKEN);
	assert_int_equal(token("Bearer secret12", NULL, NULL), HTTP_ALLOWED);
	assert_int_equal(token("bearer secret12", NULL, NULL), HTTP_ALLOWED);
	assert_int_equal(token("Bearer secret1", NULL, NULL), HTTP_NO_TOKEN);
	assert_int_equal(token("Bearer secret123", NULL, NULL), HTTP_NO_TOKEN);
	assert_int_equal(token("Bearer ", NULL, ""), HTTP_NO_TOKEN);
	assert_int_equal(token(NULL, NULL, "secret12"), HTTP_ALLOWED);
	assert_int_equal(token(NULL, "gnomon-80=secret12", NULL),
			 HTTP_ALLOWED);
	assert_int_equal(token(NULL, "a=b; gnomon-80=secret12;c=d", NULL),
			 HTTP_ALLOWED);
	assert_int_equal(token(NULL, "gnomon-80=secret12x", NULL),
			 HTTP_NO_TOKEN);
	assert_int_equal(token(NULL, "xgnomon-80=secret12", NULL),
			 HTTP_NO_TOKEN);
	assert_int_equal(token(NULL, "gnomon-80", NULL), HTTP_NO_TOKEN);
	/* A secret that repeats itself is not its half. */
	assert_false(http_guard_same("abab", "abababab", 8));
	assert_false(http_guard_same("ab", "abab", 4));
	assert_true(http_guard_same("ab", "ab", 2));
}

static void loopback(void **state)
{
	(void)state;
	assert_true(http_guard_is_loopback("127.0.0.1"));
	assert_true(http_guard_is_loopback("127.9.9.9"));
	assert_true(http_guard_is_loopback("::1"));
	assert_false(http_guard_is_loopback("0.0.0.0"));
	assert_false(http_guard_is_loopback("localhost"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(sites),
		cmocka_unit_test(tokens),
		cmocka_unit_test(loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
