/*
 * check_junit.c: verdicts as JUnit XML for CI servers: a test suite for each
 * trace, a test case for each rule. There is no single schema; the output has
 * the elements and attributes required by the strictest known one (of Ant's
 * junitreport), in its order.
 *
 * Names come from traces and may have any bytes: what XML cannot hold (control
 * characters, invalid UTF-8) becomes a question mark.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/xml.h"
#include "cli/check/check.h"
#include "cli/command/output_file.h"

static void add_when(struct buffer *out, const struct model *model)
{
	time_t seconds = model == NULL ? 0 :
		(time_t)(model_first_realtime_ns(model) / 1000000000);
	struct tm utc;
	char text[64];

	if (gmtime_r(&seconds, &utc) == NULL || utc.tm_year > 8000) {
		seconds = 0;
		gmtime_r(&seconds, &utc);
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	xml_attribute(out, "timestamp", text);
}

static void add_case(struct buffer *out, const struct check_result *result,
		     size_t i)
{
	const struct check_verdict *verdict = &result->verdicts[i];
	char message[160], blocks[40] = "";

	buffer_string(out, "    <testcase");
	xml_attribute(out, "name", verdict->name);
	xml_attribute(out, "classname", "gnomon.check");
	buffer_string(out, " time=\"0\"");
	if (verdict->passed) {
		buffer_string(out, "/>\n");
		return;
	}
	if (verdict->cost == MEASURE_LIVE)
		snprintf(blocks, sizeof(blocks), " in %" PRIu64 " block%s",
			 verdict->blocks, verdict->blocks == 1 ? "" : "s");
	snprintf(message, sizeof(message),
		 "%s is %" PRIu64 "%s, the limit is %" PRIu64, verdict->name,
		 verdict->value, blocks, verdict->limit);
	buffer_string(out, ">\n      <failure");
	xml_attribute(out, "message", message);
	xml_attribute(out, "type", verdict->name);
	buffer_string(out, ">");
	if (result->stacks[i].size > 0)
		xml_text(out, result->stacks[i].data);
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
	xml_attribute(suites, "name", result->trace);
	xml_attribute(suites, "package", "gnomon");
	buffer_printf(suites, " id=\"%zu\"", result->number);
	add_when(suites, model);
	xml_attribute(suites, "hostname", host && host[0] ? host :
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
