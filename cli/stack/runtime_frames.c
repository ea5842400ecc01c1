/*
 * runtime_frames.c: see runtime_frames.h. Compares names, as made by compilers
 * and C libraries. Any thread.
 */
#include "cli/stack/runtime_frames.h"

#include <stddef.h>
#include <string.h>

#include "cli/base/text/base_name.h"
#include "cli/stack/wrapper.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As in wrapper_is_function: "*" matches any rest. */
static const char *const functions[] = {
	/* glibc, musl: main and threads */
	"_start", "_start_c", "__libc_start_main", "__libc_start_main_impl",
	"__libc_start_call_main", "libc_start_main_stage2",
	"generic_start_main", "__libc_csu_init", "__uClibc_main", "start_thread", "clone",
	"clone3", "__clone", "__clone3", "__GI___clone", "__thread_start",
	/* their loaders, where constructors are called */
	"_dl_start_user", "_dl_start", "_dl_init",
	/* libstdc++ */
	"std::__invoke", "std::__invoke_impl", "std::__invoke_r",
	"std::invoke", "std::invoke_r", "std::__apply_impl", "std::apply",
	"std::_Function_handler::*", "std::_Function_base::*",
	"std::function::operator *", "std::function::operator()",
	"std::move_only_function::*", "std::_Bind::*", "std::_Bind_result::*",
	"std::_Mem_fn_base::*", "std::reference_wrapper::operator()",
	"std::thread::_Invoker::*", "std::thread::_State_impl::*",
	"std::__future_base::*", "std::packaged_task::*",
	"std::call_once*", "std::once_flag::*",
	"execute_native_thread_routine",
	/* libc++ */
	"std::__1::__invoke*", "std::__1::invoke*", "std::__1::__apply*",
	"std::__1::apply*", "std::__1::__function::*",
	"std::__1::function::operator()*", "std::__1::__thread_execute*",
	"std::__1::__thread_proxy*",
	/* Rust */
	"core::ops::function::*", "std::rt::*", "std::panic::catch_unwind*",
	"std::panicking::try*", "std::panicking::catch_unwind*", "__rust_try",
	"std::sys::backtrace::*", "std::sys_common::backtrace::*",
	"std::sys::pal::unix::thread::Thread::new::*",
	"std::sys::unix::thread::Thread::new::*",
	"std::sys::thread::unix::Thread::new::*",
	"std::thread::Builder::spawn_unchecked*",
	"core::panic::unwind_safe::*",
};

/* "<F as core::ops::function::FnOnce<()>>::call_once": a closure called by its
 * trait. The closure's own body is a function with a name of its own. */
static bool is_call_of_closure(const char *function)
{
	static const char traits[] = " as core::ops::function::Fn";
	static const char boxed[] = "<alloc::boxed::Box<";

	return function[0] == '<' &&
		(strncmp(function, boxed, sizeof(boxed) - 1) == 0 ||
		 strncmp(function, "<core::panic::unwind_safe", 25) == 0 ||
		 strncmp(function, "<&", 2) == 0) &&
		strstr(function, traits) != NULL;
}

/* Static functions of C libraries, with names that other code may use, too. */
static bool is_start(const char *library, const char *function)
{
	bool musl = library != NULL &&
		(strncmp(library, "ld-musl", 7) == 0 ||
		 strncmp(library, "libc.musl", 9) == 0);
	bool glibc = library != NULL &&
		(strncmp(library, "ld-linux", 8) == 0 ||
		 strncmp(library, "libc.so", 7) == 0);

	return (musl && strcmp(function, "start") == 0) ||
		(glibc && strcmp(function, "call_init") == 0);
}

/* For inlined functions, debug info has only the bare name, but also the file:
 * headers of C++ libraries whose functions call other code. */
static bool is_of_header(const char *file)
{
	static const char *const headers[] = {
		"invoke.h", "std_function.h", "std_thread.h", "refwrap.h",
		"functional", "thread", "future", "function.h", "thread.h",
	};

	if (file == NULL || strstr(file, "/c++/") == NULL)
		return false;
	for (size_t i = 0; i < COUNT(headers); i++)
		if (strcmp(base_name(file), headers[i]) == 0)
			return true;
	return false;
}

/* In a stripped library: functions called by such a library are the starts of
 * main and of threads. */
static bool is_nameless(const struct frame *frame)
{
	static const char *const libraries[] = {
		"libc.so", "libc-", "libc.musl", "ld-linux", "ld-musl",
		"libpthread", "libstdc++.so", "libc++.so",
	};

	if (!frame->nameless || frame->library == NULL)
		return false;
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (strncmp(frame->library, libraries[i],
			    strlen(libraries[i])) == 0)
			return true;
	return false;
}

bool runtime_frames_has(const struct frame *frame)
{
	if (frame->function == NULL)
		return false;
	for (size_t i = 0; i < COUNT(functions); i++)
		if (wrapper_is_function(frame->function, functions[i]))
			return true;
	return is_call_of_closure(frame->function) ||
		is_start(frame->library, frame->function) ||
		is_of_header(frame->file) || is_nameless(frame);
}
