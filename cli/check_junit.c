/*
 * check_junit.c: verdicts as JUnit XML, which CI servers read: a test suite
 * for each trace, a test case for each rule. There is no one schema; what is
 * written has the elements and attributes that the strictest known one (that
 * of Ant's junitreport) asks for, in its order.
 *
 * Names come from traces, so from anywhere: what XML cannot hold (control
 * characters, bytes that are no UTF-8) becomes a question mark.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/base/tell.h"
#include "cli/check.h"
#include "cli/trace/output_file.h"

/* Bytes of the UTF-8 character at `text`, or 0 if it is none. */
static size_t character(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t size = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 :
		p[0] >= 0xe0 && p[0] < 0xf0 ? 3 :
		p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < size; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* too long, surrogates, beyond Unicode, U+FFFE and U+FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f) ||
	    (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe))
		return 0;
	return size;
}

static void add_escaped(struct buffer *out, const char *text)
{
	while (*text != 0) {
		size_t size = character(text);

		if (size > 1)
			buffer_add(out, text, size);
		else if (*text == '&')
			buffer_string(out, "&amp;");
		else if (*text == '<')
			buffer_string(out, "&lt;");
		else if (*text == '>')
			buffer_string(out, "&gt;");
		else if (*text == '"')
			buffer_string(out, "&quot;");
		else if (size == 0 || *text == 0x7f ||
			 ((unsigned char)*text < ' ' && *text != '\n' &&
			  *text != '\t'))
			buffer_string(out, "?");
		else
			buffer_add(out, text, 1);
		text += size ? size : 1;
	}
}

static void add_attribute(struct buffer *out, const char *name,
			  const char *value)
{
	buffer_printf(out, " %s=\"", name);
	add_escaped(out, value);
	buffer_string(out, "\"");
}

static void add_when(struct buffer *out, const struct model *model)
{
	time_t seconds = model == NULL ? 0 :
		(time_t)(model->first_sync.realtime_ns / 1000000000);
	struct tm utc;
	char text[64];

	if (gmtime_r(&seconds, &utc) == NULL || utc.tm_year > 8000) {
		seconds = 0;
		gmtime_r(&seconds, &utc);
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	add_attribute(out, "timestamp", text);
}

static void add_case(struct buffer *out, const struct check_result *result,
		     size_t i)
{
	const struct check_verdict *verdict = &result->verdicts[i];
	char message[160], blocks[40] = "";

	buffer_string(out, "    <testcase");
	add_attribute(out, "name", verdict->name);
	add_attribute(out, "classname", "gnomon.check");
	buffer_string(out, " time=\"0\"");
	if (verdict->passed) {
		buffer_string(out, "/>\n");
		return;
	}
	if (verdict->cost == FIGURE_LIVE)
		snprintf(blocks, sizeof(blocks), " in %" PRIu64 " block%s",
			 verdict->blocks, verdict->blocks == 1 ? "" : "s");
	snprintf(message, sizeof(message),
		 "%s is %" PRIu64 "%s, the limit is %" PRIu64, verdict->name,
		 verdict->value, blocks, verdict->limit);
	buffer_string(out, ">\n      <failure");
	add_attribute(out, "message", message);
	add_attribute(out, "type", verdict->name);
	buffer_string(out, ">");
	if (result->stacks[i].size > 0)
		add_escaped(out, result->stacks[i].data);
	buffer_string(out, "</failure>\n    </testcase>\n");
}

void check_junit_suite(const struct check_result *result,
		       struct buffer *suites)
{
	const struct model *model = result->model;
	uint64_t ms = model ? model_duration_ns(model) / 1000000 : 0;
	const char *host = model ? model_fact(model, GT_INFO, "host") : NULL;
	bool unread = model == NULL;

	buffer_string(suites, "  <testsuite");
	add_attribute(suites, "name", result->trace);
	add_attribute(suites, "package", "gnomon");
	buffer_printf(suites, " id=\"%zu\"", result->number);
	add_when(suites, model);
	add_attribute(suites, "hostname", host && host[0] ? host :
		      "localhost");
	buffer_printf(suites, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" "
		      "time=\"%" PRIu64 ".%03" PRIu64 "\">\n"
		      "    <properties/>\n",
		      unread ? 1 : result->count, result->failed, unread,
		      ms / 1000, ms % 1000);
	for (size_t i = 0; i < result->count; i++)
		add_case(suites, result, i);
	if (unread)
		buffer_string(suites, "    <testcase name=\"read\" "
			      "classname=\"gnomon.check\" time=\"0\">\n"
			      "      <error message=\"the trace could not be "
			      "read\" type=\"read\"/>\n    </testcase>\n");
	buffer_string(suites, "    <system-out/>\n    <system-err/>\n"
		      "  </testsuite>\n");
}

bool check_junit_write(const char *path, const struct buffer *suites)
{
	FILE *out = output_file_open(path);

	if (out == NULL)
		return false;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
	      out);
	if (suites->size > 0)
		fwrite(suites->data, 1, suites->size, out);
	fputs("</testsuites>\n", out);
	return output_file_close(out, path, EXIT_COMPLETE) == EXIT_COMPLETE;
}
