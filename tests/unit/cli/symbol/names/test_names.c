/* test_names.c: names as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbol/names/names.h"

static void check(void (*make)(struct buffer *, const char *),
		  const char *from, const char *to)
{
	struct buffer out = { 0 };

	make(&out, from);
	assert_string_equal(out.data, to);
	buffer_free(&out);
}

static void demangled(void **state)
{
	(void)state;
	check(names_demangle, "main", "main");
	check(names_demangle, "_start", "_start");
	check(names_demangle, "f__1", "f__1");
	check(names_demangle, "_Z3fooi", "foo(int)");
	check(names_demangle, "_Znwm", "operator new(unsigned long)");
	check(names_demangle, "_ZN5alloc3vec17h0123456789abcdefE",
	      "alloc::vec");
	check(names_demangle, "_RNvC7mycrate3foo", "mycrate::foo");
	check(names_demangle, "_Dmain", "D main");
	check(names_demangle, "_D3std5stdio4File4readMFAhZv",
	      "std.stdio.File.read(ubyte[])");
	check(names_demangle, "_Zgarbage!", "_Zgarbage!");
}

/* f(A<int, int>, A<of that, twice>, A<of that, twice> …) */
static void endless_names_are_left(void **state)
{
	struct buffer name = { 0 }, out = { 0 };

	(void)state;
	buffer_string(&name, "_Z1f1AIiiE");
	for (int i = 0; i < 30; i++)
		buffer_printf(&name, "S_IS%c_S%c_E",
			      i < 10 ? '0' + i : 'A' + i - 10,
			      i < 10 ? '0' + i : 'A' + i - 10);
	names_demangle(&out, name.data);
	assert_string_equal(out.data, name.data);
	buffer_free(&name);
	buffer_free(&out);
}

/* Flat ones are demangled; deep ones need not be, but end. */
static void long_names(void **state)
{
	static const char *const parameters[] = { "PPi", "P" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct buffer name = { 0 }, out = { 0 };
		size_t count = i < 1 ? 600 : i < 2 ? 4000 : 100000;

		buffer_string(&name, "_Z1f");
		for (size_t j = 0; j < count; j++)
			buffer_string(&name, parameters[i % 2]);
		buffer_string(&name, "i");
		names_demangle(&out, name.data);
		assert_memory_equal(out.data, i == 0 ? "f(int**, int" :
				    i % 2 ? "_Z1fPPPPPPPP" : "_Z1fPPiPPiPP",
				    12);
		buffer_free(&name);
		buffer_free(&out);
	}
}

static void *demangle_on(void *name)
{
	struct buffer *out = calloc(1, sizeof(*out));

	names_demangle(out, name);
	return out;
}

/* As deep as it gets, on threads that have next to no stack: where nothing is
 * done about it, this ends in SIGSEGV. */
static void little_stacks(void **state)
{
	static const struct {
		const char *before, *each, *middle, *behind, *wanted;
		size_t levels;
	} names[] = {
		{ "_Z1f", "P", "i", "", "f(int***", 1000 },
		{ "_Z1f", "1AI", "i", "E", "f(A<A<A<", 250 },
		{ "_Z1f", "1AI", "i", "E", NULL, 900 },
		{ "_Z1f", "P", "i", "", NULL, 4000 },
		{ "_D1f", "P", "i", "", NULL, 1000 },
		{ "_RIC1a", "R", "a", "", NULL, 1000 },
	};
	pthread_attr_t little;

	(void)state;
	pthread_attr_init(&little);
	assert_int_equal(pthread_attr_setstacksize(&little, 128 << 10), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buffer name = { 0 };
		struct buffer *out;
		pthread_t thread;
		void *result;

		buffer_string(&name, names[i].before);
		for (size_t n = 0; n < names[i].levels; n++)
			buffer_string(&name, names[i].each);
		buffer_string(&name, names[i].middle);
		for (size_t n = 0; n < names[i].levels; n++)
			buffer_string(&name, names[i].behind);
		assert_int_equal(pthread_create(&thread, &little, demangle_on,
						name.data), 0);
		pthread_join(thread, &result);
		out = result;
		assert_true(out->size > 0);
		if (names[i].wanted != NULL)
			assert_memory_equal(out->data, names[i].wanted,
					    strlen(names[i].wanted));
		buffer_free(out);
		buffer_free(&name);
		free(out);
	}
	pthread_attr_destroy(&little);
}

static void shortened(void **state)
{
	(void)state;
	check(names_shorten, "f(std::__cxx11::basic_string<char, "
	      "std::char_traits<char>, std::allocator<char> > const&)",
	      "f(std::string const&)");
	check(names_shorten, "std::vector<int, std::allocator<int> >::grow()",
	      "std::vector<int>::grow()");
	check(names_shorten, "std::map<int, std::vector<char, std::allocator"
	      "<char> >, std::less<int>, std::allocator<std::pair<int const, "
	      "std::vector<char, std::allocator<char> > > > >::at()",
	      "std::map<int, std::vector<char>>::at()");
	check(names_shorten, "std::vector<int, my::allocator<int> >",
	      "std::vector<int, my::allocator<int>>");
	check(names_shorten, "f(int, std::allocator<int> const&)",
	      "f(int, std::allocator<int> const&)");
	check(names_shorten, "operator<", "operator<");
}

static void brief(void **state)
{
	struct buffer out = { 0 };

	(void)state;
	names_brief(&out, "ns::parse(std::vector<int> const&) const", 40);
	assert_string_equal(out.data, "ns::parse");
	buffer_clear(&out);
	names_brief(&out, "A<B<C>, D>::very_long_function_name(int)", 32);
	assert_string_equal(out.data, "A<>::very_long_function_name");
	buffer_clear(&out);
	names_brief(&out, "Functor::operator()(int) const", 40);
	assert_string_equal(out.data, "Functor::operator()");
	buffer_clear(&out);
	names_brief(&out, "JS:*f node:buffer:391:30", 40);
	assert_string_equal(out.data, "JS:*f node:buffer:391:30");
	buffer_clear(&out);
	names_brief(&out, "a_name_that_is_longer_than_its_room", 20);
	assert_int_equal(out.size, 20);
	buffer_clear(&out);
	names_brief(&out, "(anonymous namespace)::f(int)", 40);
	assert_string_equal(out.data, "(anonymous namespace)::f");
	buffer_free(&out);
}

static void brief_of(const char *name, size_t width, const char *wanted)
{
	struct buffer out = { 0 };

	names_brief(&out, name, width);
	assert_string_equal(out.data, wanted);
	buffer_free(&out);
}

static void brief_templates(void **state)
{
	(void)state;
	brief_of("std::_Rb_tree<a, b>& std::copy<x>(x*)", 40, "std::copy<x>");
	brief_of("ns::A<B<C<D> >, E>::f(int)", 30, "ns::A<B<C<D> >, E>::f");
	brief_of("ns::A<B<C<D> >, E>::f(int)", 19, "ns::A<B<>, E>::f");
	brief_of("ns::A<B<C<D> >, E>::f(int)", 12, "ns::A<>::f");
	brief_of("outer::inner::Class::method(int)", 20, "..Class::method");
	brief_of("outer::inner::Class::method(int)", 8, "..method");
	brief_of("foo [clone .part.0]", 30, "foo [clone .part.0]");
	brief_of("void* f<int>(int) [clone .cold]", 30, "f<int> [clone .cold]");
	brief_of("std::ostream& operator<< <int>(int)", 30,
		 "operator<< <int>");
	brief_of("a::operator bool() const", 30, "a::operator bool");
	brief_of("std::function<void (int)>::operator()(int) const", 44,
		 "std::function<void (int)>::operator()");
	brief_of("", 10, "");
	brief_of(">>(", 10, ">>(");
}

static bool is_same(void *wanted, const char *form)
{
	return strcmp(wanted, form) == 0;
}

static bool never(void *count, const char *form)
{
	assert_non_null(form);
	++*(int *)count;
	return false;
}

static void any_form(void **state)
{
	static const char name[] = "std::vector<std::pair<int, long>, "
		"std::allocator<std::pair<int, long> > > f<A<B>>(int) const";
	static const char *const forms[] = {
		name, "f<A<B>>", "f<A<>>", "f<>",
		"std::vector<std::pair<int, long>> f<A<B>>(int) const",
	};
	int count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		assert_true(names_any_form(name, is_same, (char *)forms[i]));
	assert_false(names_any_form(name, is_same, "f"));
	assert_false(names_any_form("main", never, &count));
	assert_int_equal(count, 1);
	assert_false(names_any_form("<a::B<C> as D>::f", never, &count));
	assert_false(names_any_form("", never, &count));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangled),
		cmocka_unit_test(endless_names_are_left),
		cmocka_unit_test(long_names),
		cmocka_unit_test(little_stacks),
		cmocka_unit_test(shortened),
		cmocka_unit_test(brief),
		cmocka_unit_test(brief_templates),
		cmocka_unit_test(any_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
