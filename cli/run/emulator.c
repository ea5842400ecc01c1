/*
 * emulator.c: see emulator.h.
 *
 * Called by the main thread.
 */
#include "cli/run/emulator.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/base_name.h"
#include "cli/run/processor.h"
#include "cli/run/program.h"
#include "preload/base/options.h"

#define QEMU "qemu-"
#define OWN_WORDS 5		/* qemu -L prefix -0 name */

/* The path DIR/NAME/FILE beside our library; NULL after a message: missing. */
static char *part_of(const char *library, const struct processor *processor,
		     const char *file, const char *guest)
{
	char *path = grow_format("%.*s%s/%s", (int)(base_name(library) -
						    library), library,
				 processor->name, file);

	if (access(path, R_OK) == 0)
		return path;
	log_error("%s: is for %s, and %s, which is needed to record it, is "
		  "missing: build it with `make ARCH=%s`, and install it "
		  "beside gnomon with `make ARCH=%s install`", guest,
		  processor->name, path, processor->name, processor->name);
	free(path);
	return NULL;
}

/* Chooses the recorder. Our own needs less processor time than the target's,
 * which is emulated as well. For the other byte order it executes the variant
 * beside it. */
static char *recorder_for(const char *library, const struct processor *own,
			  const struct processor *other, const char *guest)
{
	int folder = (int)(base_name(library) - library);
	char *path = grow_format("%.*sgnomon-recorder", folder, library);
	char *turned = grow_format("%s-other", path);
	bool there = access(path, X_OK) == 0 && (own->order == other->order ||
						 access(turned, X_OK) == 0);

	free(turned);
	if (there)
		return path;
	free(path);
	return part_of(library, other, "emulated/gnomon-recorder", guest);
}

static size_t count_words(char **argv)
{
	size_t count = 0;

	while (argv[count] != NULL)
		count++;
	return count;
}

/* Composes: qemu [-L prefix] -0 name program arguments. -0 keeps the guest's
 * argv[0]. */
static void set_words(struct emulator *to, const struct processor *processor,
		      const char *program, char **argv)
{
	size_t count = count_words(argv), n = 0;

	to->argv = grow_zeroed(count + OWN_WORDS + 1, sizeof(*to->argv));
	to->argv[n++] = to->program;
	to->prefix = grow_format("/usr/%s", processor->triplet);
	if (getenv("QEMU_LD_PREFIX") == NULL && access(to->prefix, X_OK) == 0) {
		to->argv[n++] = (char *)"-L";
		to->argv[n++] = to->prefix;
	}
	to->argv[n++] = (char *)"-0";
	to->argv[n++] = argv[0];
	to->guest = grow_copy(program, strlen(program));
	to->argv[n++] = to->guest;
	memcpy(to->argv + n, argv + 1, (count - 1) * sizeof(*argv));
}

/* The processor of qemu's first argument that is a program; NULL: no program,
 * or no port for its processor. */
static const struct processor *guest_of(char **argv, const char **guest)
{
	const struct processor *found = NULL;

	for (size_t i = 1; argv[i] != NULL && found == NULL; i++) {
		found = processor_of(argv[i]);
		*guest = argv[i];
		if (found == NULL &&
		    processor_report_unported(argv[i], "the emulator itself is "
					      "recorded"))
			break;
	}
	return found;
}

/* The value of the last -L before the guest, else of the variable. */
static const char *root_of(const struct emulator *emulator)
{
	const char *root = getenv("QEMU_LD_PREFIX");

	for (size_t i = 1; emulator->argv[i] != NULL &&
			   strcmp(emulator->argv[i], emulator->guest) != 0; i++)
		if (strcmp(emulator->argv[i], "-L") == 0 &&
		    emulator->argv[i + 1] != NULL)
			root = emulator->argv[++i];
	return root != NULL ? root : "";
}

/* Finds the emulator: as given, or qemu in $PATH. */
static bool find_program(struct emulator *to, const char *program,
			 char **argv, const char *guest,
			 const struct processor *processor, int *status)
{
	char *name;

	if (guest != program) {
		size_t count = count_words(argv);

		to->program = grow_copy(program, strlen(program));
		to->guest = grow_copy(guest, strlen(guest));
		to->argv = grow_zeroed(count + 1, sizeof(*to->argv));
		memcpy(to->argv, argv, count * sizeof(*argv));
		return true;
	}
	name = grow_format(QEMU "%s", processor->name);
	log_note("%s: is for %s: run by %s", program, processor->name, name);
	to->program = program_find(name, status);
	if (to->program == NULL)
		*status = PROGRAM_NOT_EXECUTABLE;
	else
		set_words(to, processor, program, argv);
	free(name);
	return to->program != NULL;
}

bool emulator_find(struct emulator *to, const char *program, char **argv,
		   const char *library, int *status)
{
	const struct processor *own = processor_of(library), *other;
	const char *guest = program;

	memset(to, 0, sizeof(*to));
	*status = 0;
	other = processor_of(program);
	if (other == own && strncmp(base_name(program), QEMU,
				    strlen(QEMU)) == 0)
		other = guest_of(argv, &guest);
	if (own == NULL || other == NULL || other == own)
		return false;
	*status = PROGRAM_OWN_FAILURE;
	to->library = part_of(library, other, "libgnomon.so", guest);
	to->recorder = to->library == NULL ? NULL :
		recorder_for(library, own, other, guest);
	if (to->recorder != NULL && find_program(to, program, argv, guest,
						 other, status)) {
		to->root = root_of(to);
		to->triplet = other->triplet;
		return true;
	}
	emulator_free(to);
	return false;
}

void emulator_set_environment(const struct emulator *emulator)
{
	const char *old = getenv("QEMU_SET_ENV");
	char *set = grow_format("%s%sLD_PRELOAD=%s", old ? old : "",
				old && *old ? "," : "", emulator->library);
	char *root = realpath(emulator->root, NULL);

	setenv("QEMU_SET_ENV", set, 1);
	/* absolute, as the program may change its directory before it reads
	 * this */
	if (root != NULL)
		setenv(OPTIONS_EMULATOR_ROOT, root, 1);
	else
		unsetenv(OPTIONS_EMULATOR_ROOT);
	free(root);
	setenv("GNOMON_RECORDER", emulator->recorder, 1);
	free(set);
}

void emulator_free(struct emulator *emulator)
{
	free(emulator->program);
	free(emulator->argv);
	free(emulator->guest);
	free(emulator->library);
	free(emulator->recorder);
	free(emulator->prefix);
	memset(emulator, 0, sizeof(*emulator));
}
