/*
 * prepare.c: see prepare.h.
 */
#include "cli/symbol/cfi/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"

char *prepare_directory(void)
{
	const char *given = getenv("GNOMON_CFI_DIR");
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (given != NULL && given[0] != 0)
		return grow_copy(given, strlen(given));
	if (cache != NULL && cache[0] == '/')
		return grow_format("%s/gnomon/cfi", cache);
	return home != NULL && home[0] == '/' ?
		grow_format("%s/.cache/gnomon/cfi", home) : NULL;
}

int prepare_make_directory(const char *directory)
{
	char *path = grow_copy(directory, strlen(directory)), *slash = path;
	int error = 0;

	while (error == 0 && (slash = strchr(slash + 1, '/')) != NULL) {
		*slash = 0;
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			error = -errno;
		*slash = '/';
	}
	if (error == 0 && mkdir(path, 0700) != 0 && errno != EEXIST)
		error = -errno;
	free(path);
	return error;
}

static const char *write_file(const struct binary *binary,
			      const struct generated_rules *made,
			      const char *directory,
			      struct prepare_result *result)
{
	LOCAL_BUFFER bytes = { 0 };
	int error;

	rule_file_bytes(binary, made, &bytes);
	error = prepare_make_directory(directory);
	result->path = rule_file_path(directory, binary->id, binary->id_size);
	if (error == 0)
		error = rule_file_write(result->path, &bytes);
	return error == 0 ? NULL : strerror(-error);
}

const char *prepare_binary(const struct binary *binary, const char *directory,
			   struct prepare_result *result)
{
	struct generated_rules made;
	const char *wrong = NULL;

	memset(result, 0, sizeof(*result));
	if (binary->id_size == 0)
		return "it has no build-id, by which its rules are found: "
			"link it with -Wl,--build-id";
	if (!generated_rules_make(&made, binary))
		return "Capstone cannot disassemble code of this machine";
	result->functions = made.functions;
	result->code_bytes = made.code_bytes;
	result->ruled_bytes = made.ruled_bytes;
	if (made.count > 0)
		wrong = write_file(binary, &made, directory, result);
	generated_rules_free(&made);
	return wrong;
}

void prepare_free(struct prepare_result *result)
{
	free(result->path);
	memset(result, 0, sizeof(*result));
}
