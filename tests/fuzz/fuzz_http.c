/*
 * fuzz_http.c: the parts of a request to `gnomon serve` that are parsed:
 * parameters of its URL, which become words of a command; headers that identify
 * the client; and output of processes, which becomes a header. The first byte
 * chooses the parser; lines follow.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text/buffer.h"
#include "cli/serve/answer.h"
#include "cli/serve/http_guard.h"
#include "cli/serve/http_compress.h"
#include "cli/serve/route.h"

#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path of the server's must not be among the words, nor an option that is none
 * of the list. */
static void check_words(const struct buffer *words, size_t given)
{
	static const char *const never[] = {
		"output", "debug-path", "sysroot", "index", "source-root",
		"only-roots", "junit", "baseline", "suppressions", "file",
		"help", "quiet", "no-debuginfod",
	};
	size_t count = 0;

	for (size_t at = 0; at < words->size; count++) {
		const char *word = words->data + at;

		for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
			size_t length = strlen(never[i]);

			if (strncmp(word, "--", 2) == 0 &&
			    strncmp(word + 2, never[i], length) == 0 &&
			    (word[2 + length] == 0 || word[2 + length] == '='))
				abort();
		}
		if (at > 0 && strncmp(word, "--", 2) != 0)
			abort();
		at += strlen(word) + 1;
	}
	if (count > given + 4)
		abort();
}

static void take_parameters(char **lines, size_t count)
{
	struct route_parameter list[LINES_MAX];
	const struct route *route = count > 0 ? route_find(lines[0]) : NULL;
	struct buffer words = { 0 }, why = { 0 };
	const char *operand;
	size_t n = 0;

	if (route == NULL)
		route = route_find_diff("diff/flame");
	for (size_t i = 1; i < count; i++) {
		char *equals = strchr(lines[i], '=');

		if (equals != NULL)
			*equals = 0;
		list[n++] = (struct route_parameter){
			lines[i], equals == NULL ? NULL : equals + 1,
		};
	}
	if (route_words(route, list, n, &words, &operand, &why))
		check_words(&words, n);
	else if (why.size == 0)
		abort();
	buffer_free(&words);
	buffer_free(&why);
}

static const char *line(char **lines, size_t count, size_t n)
{
	return n < count && strcmp(lines[n], "-") != 0 ? lines[n] : NULL;
}

static void take_heads(char **lines, size_t count, bool token)
{
	const char *const hosts[] = { "box" };
	const struct http_guard guard = {
		.hosts = hosts, .host_count = 1, .loopback = true,
		.token = token ? "a-secret" : NULL, .cookie = "gnomon",
	};
	const struct http_heads heads = {
		.host = line(lines, count, 0), .origin = line(lines, count, 1),
		.fetch_site = line(lines, count, 2),
		.authorization = line(lines, count, 3),
		.cookies = line(lines, count, 4),
		.token = line(lines, count, 5),
	};

	if (http_guard_check(&guard, &heads) != HTTP_ALLOWED)
		return;
	if (heads.host == NULL || strstr(heads.host, "evil") != NULL)
		abort();
	if (heads.origin != NULL && strcasestr(heads.origin, heads.host) == NULL)
		abort();
	if (token && (heads.authorization == NULL ||
		      strstr(heads.authorization, "a-secret") == NULL) &&
	    (heads.cookies == NULL ||
	     strstr(heads.cookies, "gnomon=a-secret") == NULL) &&
	    (heads.token == NULL || strcmp(heads.token, "a-secret") != 0))
		abort();
}

static void take_said(const char *text)
{
	char *messages = answer_messages(text, 4096);

	for (size_t i = 0; messages != NULL && messages[i] != 0; i++)
		if (messages[i] < ' ' || messages[i] > '~')
			abort();
	if (messages != NULL && strlen(messages) > 4098)
		abort();
	free(messages);
	answer_drop(answer_error(400, text));
	http_compress_choose(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *at, *lines[LINES_MAX];
	size_t count = 0;

	if (size == 0)
		return 0;
	text = malloc(size);
	if (text == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (data[0] % 4 == 3) {
		take_said(text);
		free(text);
		return 0;
	}
	for (at = text; at != NULL && count < LINES_MAX;) {
		char *end = strchr(at, '\n');

		if (end != NULL)
			*end = 0;
		lines[count++] = at;
		at = end == NULL ? NULL : end + 1;
	}
	if (data[0] % 4 == 0)
		take_parameters(lines, count);
	else
		take_heads(lines, count, data[0] % 4 == 2);
	free(text);
	return 0;
}
