/*
 * plugin_host.c: loads a plugin that configures the recorder: arguments are a
 * path, and how ("deep": RTLD_DEEPBIND). The plugin's result is the status.
 */
// FLAGS: -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int flags = RTLD_NOW | RTLD_LOCAL;
	int *loaded;
	void *plugin;

	if (argc > 2 && strcmp(argv[2], "deep") == 0)
		flags |= RTLD_DEEPBIND;
	plugin = dlopen(argv[1], flags);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	loaded = dlsym(plugin, "middle_loaded");
	return loaded && *loaded ? 0 : 1;
}
