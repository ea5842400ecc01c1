/* test_runtime_frames.c: frames that only lead to the program's code, and those
 * that only look like them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cli/stack/runtime_frames.h"

static bool has(const char *library, const char *function, const char *file)
{
	const struct frame frame = {
		.function = function, .library = library, .file = file,
	};

	return runtime_frames_has(&frame);
}

static void of_run_time_libraries(void **state)
{
	static const char *const names[] = {
		"_start", "__libc_start_main_impl", "__libc_start_call_main",
		"__libc_start_main@@GLIBC_2.34", "start_thread", "clone3",
		"_dl_init", "execute_native_thread_routine",
		"void std::__invoke_impl<void, void (*&)(int), int>("
			"std::__invoke_other, void (*&)(int), int&&)",
		"std::_Function_handler<void (int), main::{lambda(int)#1}>::"
			"_M_invoke(std::_Any_data const&, int&&)",
		"std::function<void (int)>::operator()(int) const",
		"std::thread::_State_impl<std::thread::_Invoker<std::tuple<"
			"void (*)()> > >::_M_run()",
		"std::__1::__invoke[abi:v160006]<void (*)()>(void (*&&)())",
		"void* std::__1::__thread_proxy[abi:v160006]<int>(void*)",
		"core::ops::function::FnOnce::call_once",
		"core::ops::function::FnOnce::call_once{{vtable.shim}}",
		"<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>"
			"::call_once",
		"std::rt::lang_start::{{closure}}",
		"std::sys::backtrace::__rust_begin_short_backtrace",
		"std::panicking::try", "__rust_try",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!has("program", names[i], NULL))
			fail_msg("%s leads on", names[i]);
	assert_true(has("libc.so.6", "call_init", NULL));
	assert_true(has("ld-musl-x86_64.so.1", "start", NULL));
	assert_true(has("program", "__invoke_impl<>",
			"/usr/include/c++/12/bits/invoke.h"));
	assert_true(has("program", "operator()",
			"/usr/include/c++/12/bits/std_function.h"));
}

static void of_programs(void **state)
{
	static const char *const names[] = {
		"main", "start", "call_init", "started", "_start_server",
		"clone_repository", "invoke(int)", "handler::_M_invoke(int)",
		"std::vector<int>::push_back(int const&)", "std::string::assign",
		"core::str::parse", "std::fs::read_to_string",
		"my::ops::function::FnOnce::call_once",
		"<app::Job as core::ops::function::FnOnce<()>>::call_once",
		"operator()", "_PyEval_EvalFrameDefault", "",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has("program", names[i], NULL))
			fail_msg("%s is the program's", names[i]);
	assert_false(has("program", NULL, NULL));
	assert_false(has("program", "f", "/home/me/c++/main.cc"));
	assert_false(has("program", "f", "/home/me/invoke.h"));
}

/* Stripped libraries start threads by code without a name. */
static void nameless(void **state)
{
	struct frame frame = {
		.function = "libstdc++.so.6+0x10", .nameless = true,
		.library = "libstdc++.so.6.0.30",
	};

	(void)state;
	assert_true(runtime_frames_has(&frame));
	frame.library = "libc.so.6";
	assert_true(runtime_frames_has(&frame));
	frame.library = "libcalls.so";
	assert_false(runtime_frames_has(&frame));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_run_time_libraries),
		cmocka_unit_test(of_programs),
		cmocka_unit_test(nameless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
