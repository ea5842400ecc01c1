/*
 * plugin.c: a library to be loaded and unloaded, in two variants of the same
 * size whose code at the same place has another frame.
 */
void plugin_call(void (*function)(void));

__asm__("	.globl plugin_call\n"
	"	.type plugin_call, @function\n"
	"plugin_call:\n"
	"	.cfi_startproc\n"
#ifdef PLUGIN_WIDE
	"	sub $72, %rsp\n"
	"	.cfi_adjust_cfa_offset 72\n"
	"	call *%rdi\n"
	"	add $72, %rsp\n"
#else
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call *%rdi\n"
	"	add $8, %rsp\n"
#endif
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size plugin_call, .-plugin_call\n");
