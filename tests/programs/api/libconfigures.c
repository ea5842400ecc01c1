/*
 * libconfigures.c: preloaded into a program, configures its recorder from the
 * constructor. As a plugin it does the same when it is loaded.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include <gnomon/gnomon.h>

extern int middle_loaded;
int middle_loaded;

__attribute__((constructor)) static void configure(void)
{
	middle_loaded = gnomon_loaded() && gnomon_enabled() &&
			gnomon_marker("middle") == 0 &&
			gnomon_disable() == 0 && !gnomon_enabled();
}
