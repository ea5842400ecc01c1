/*
 * wrapper.c: see wrapper.h. No state: any thread.
 *
 * A site that is a wrapper of malloc or free says nothing, but a wrongly
 * skipped site hides the user's code. The tables here define what is skipped,
 * one for each criterion:
 *
 *	libraries	files that are a language's run-time library
 *	beginnings	names within the C++ library's namespaces
 *	crates		Rust: std and its own crates, wherever compiled in
 *	wrappers	functions by their whole name, in any program (I1)
 *	prefixes ×	names that say malloc and no more (I2)
 *	  spellings
 *	members		class members of one library (I3)
 *
 *  I1  Listed here: functions of well-known projects that do nothing except
 *      allocate or free for their caller.
 *  I2  Names spelled as one of the C library's allocation functions, or free,
 *      with a prefix that only means "mine" (xmalloc, my_malloc): such a
 *      function does the same as malloc.
 *  I3  A class member is a wrapper in its own library only: os::malloc is the
 *      JVM's in libjvm.so, and the user's everywhere else.
 *  I4  A Rust function is runtime code if no part of it is from another crate:
 *      in `<TYPE as TRAIT>::f` neither the trait nor the type. Code of std for
 *      T, for u8 or [T] is its own; an impl of Clone for the user's type is the
 *      user's. C++ names end with parameters, Rust names do not, so a C++
 *      namespace may be called core.
 *
 * Code without a name that is called by a wrapper of the same library is a part
 * of the wrapper: stripped libraries keep only the wrapper's name, which is
 * exported.
 *
 * If a stack has no other frames, its innermost frame is the site.
 */
#include "cli/stack/wrapper.h"

#include <stddef.h>
#include <string.h>

#include "unwind/base/assertion.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const libraries[] = {
	"libgnomon", "libc.so", "libc-", "libc.musl", "ld-linux", "ld-musl",
	"ld-2", "libstdc++", "libc++", "libgcc_s", "libpthread", "libdl.so",
	"libm.so", "linux-vdso", "[vdso]",
};

/* The GNU C library's loader on MIPS; the whole name. */
static const char loader_mips[] = "ld.so.1";

static const char *const beginnings[] = {
	"operator new", "operator delete", "std::", "__gnu_cxx::",
	"__gnu_debug::", "__rust_", "__rdl_", "__rg_",
};

static const char *const crates[] = {
	"alloc", "core", "std", "hashbrown", "compiler_builtins",
};

static const char *const wrappers[] = {
	/* GNU: libiberty, gcc's garbage collector, gnulib, obstacks */
	"xmemdup", "xnmalloc", "xnrealloc", "x2realloc", "x2nrealloc",
	"xcharalloc", "xpalloc", "ximalloc", "xicalloc", "xirealloc",
	"xireallocarray", "ximemdup", "ximemdup0", "ggc_internal_alloc",
	"ggc_internal_cleared_alloc", "ggc_realloc", "_obstack_begin",
	"_obstack_begin_1", "_obstack_newchunk", "rpl_malloc", "rpl_calloc",
	"rpl_realloc",
	/* Redis, Valkey, hiredis */
	"zmalloc_usable", "zmalloc_usable_internal", "zcalloc_num",
	"zcalloc_usable", "zrealloc_usable", "zrealloc_usable_internal",
	"ztrymalloc", "ztrymalloc_usable", "ztrymalloc_usable_internal",
	"ztrycalloc", "ztrycalloc_usable", "ztrycalloc_usable_internal",
	"ztryrealloc", "ztryrealloc_usable", "ztryrealloc_usable_internal",
	"valkey_malloc", "valkey_calloc", "valkey_realloc", "valkey_strdup",
	"hi_malloc", "hi_calloc", "hi_realloc", "hi_strdup",
	/* SQLite */
	"sqlite3MemMalloc", "sqlite3MemRealloc", "sqlite3Malloc",
	"sqlite3MallocZero", "sqlite3Realloc", "sqlite3DbMallocRaw",
	"sqlite3DbMallocRawNN", "sqlite3DbMallocZero", "sqlite3DbRealloc",
	"sqlite3DbReallocOrFree", "sqlite3DbStrDup", "sqlite3DbStrNDup",
	"sqlite3DbSpanDup", "sqlite3_malloc", "sqlite3_malloc64",
	"sqlite3_realloc", "sqlite3_realloc64", "mallocWithAlarm",
	"dbMallocRawFinish", "dbReallocFinish",
	/* OpenSSL */
	"CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_calloc", "CRYPTO_realloc",
	"CRYPTO_clear_realloc", "CRYPTO_malloc_array", "CRYPTO_aligned_alloc",
	"CRYPTO_strdup", "CRYPTO_strndup", "CRYPTO_memdup",
	"OPENSSL_malloc", "OPENSSL_zalloc", "OPENSSL_calloc",
	"OPENSSL_realloc",
	/* GLib */
	"g_malloc", "g_malloc0", "g_malloc_n", "g_malloc0_n", "g_realloc",
	"g_realloc_n", "g_try_malloc", "g_try_malloc0", "g_try_malloc_n",
	"g_try_malloc0_n", "g_try_realloc", "g_try_realloc_n", "g_strdup",
	"g_strndup", "g_memdup", "g_memdup2", "g_slice_alloc",
	"g_slice_alloc0", "g_slice_copy", "g_aligned_alloc",
	"g_aligned_alloc0", "g_rc_box_alloc", "g_rc_box_alloc0",
	"g_rc_box_alloc_full", "g_atomic_rc_box_alloc",
	"g_atomic_rc_box_alloc0",
	/* the C++ run-time library, linked in statically */
	"__cxa_allocate_exception", "__cxa_allocate_dependent_exception",
	/* Python */
	"PyMem_Malloc", "PyMem_Calloc", "PyMem_Realloc", "PyMem_RawMalloc",
	"PyMem_RawCalloc", "PyMem_RawRealloc", "_PyMem_RawMalloc",
	"_PyMem_RawCalloc", "_PyMem_RawRealloc", "_PyMem_DebugMalloc",
	"_PyMem_DebugCalloc", "_PyMem_DebugRealloc", "_PyMem_DebugRawAlloc",
	"_PyMem_DebugRawMalloc", "_PyMem_DebugRawCalloc",
	"_PyMem_DebugRawRealloc", "PyObject_Malloc", "PyObject_Calloc",
	"PyObject_Realloc", "_PyObject_Malloc", "_PyObject_Calloc",
	"_PyObject_Realloc", "_PyMem_Strdup", "pymalloc_alloc",
	"pymalloc_realloc", "allocate_from_new_pool", "new_arena",
	"_PyObject_New", "_PyObject_NewVar", "_PyObject_GC_Alloc", "gc_alloc",
	"_PyObject_GC_Malloc", "_PyObject_GC_Calloc", "_PyObject_GC_New",
	"_PyObject_GC_NewVar", "_PyObject_GC_Resize", "PyObject_GC_New",
	"PyType_GenericAlloc", "_PyType_AllocNoTrack", "PyType_GenericNew",
	/* Perl, Ruby, PHP, Lua, Tcl */
	"Perl_safesysmalloc", "Perl_safesyscalloc", "Perl_safesysrealloc",
	"ruby_xmalloc", "ruby_xmalloc2", "ruby_xcalloc", "ruby_xrealloc",
	"ruby_xrealloc2", "ruby_strdup", "objspace_xmalloc0",
	"objspace_xcalloc", "objspace_xrealloc", "rb_gc_impl_malloc",
	"rb_gc_impl_calloc", "rb_gc_impl_realloc", "_emalloc", "_ecalloc",
	"_erealloc", "_estrdup", "_estrndup", "_safe_emalloc",
	"_safe_malloc", "__zend_malloc", "__zend_calloc", "__zend_realloc",
	"l_alloc", "luaM_malloc_", "luaM_realloc_", "luaM_saferealloc_",
	"luaM_growaux_", "Tcl_Alloc", "Tcl_AttemptAlloc", "Tcl_Realloc",
	"Tcl_AttemptRealloc", "TclpAlloc", "TclpRealloc",
	/* PostgreSQL, Apache, nginx */
	"palloc", "palloc0", "repalloc", "pstrdup", "MemoryContextAlloc",
	"MemoryContextAllocZero", "MemoryContextAllocZeroAligned",
	"MemoryContextAllocExtended", "MemoryContextStrdup",
	"AllocSetAlloc", "AllocSetRealloc", "pg_malloc", "pg_malloc0",
	"pg_realloc", "pg_strdup", "apr_palloc", "apr_pcalloc",
	"apr_pstrdup", "apr_pstrndup", "apr_pmemdup", "apr_allocator_alloc",
	"ngx_alloc", "ngx_calloc", "ngx_memalign", "ngx_palloc",
	"ngx_pnalloc", "ngx_pcalloc", "ngx_pmemalign", "ngx_palloc_large",
	"ngx_palloc_block",
	/* FFmpeg, Firefox, LLVM, ggml, systemd, git */
	"av_malloc", "av_mallocz", "av_calloc", "av_malloc_array",
	"av_realloc", "av_realloc_f", "av_realloc_array", "av_reallocp",
	"av_reallocp_array", "av_fast_malloc", "av_fast_mallocz",
	"av_fast_realloc", "av_strdup", "av_strndup", "av_memdup",
	"moz_xmalloc", "moz_xcalloc", "moz_xrealloc", "moz_xstrdup",
	"moz_xmemalign", "llvm::safe_malloc", "llvm::safe_calloc",
	"llvm::safe_realloc", "llvm::allocate_buffer", "ggml_malloc",
	"ggml_calloc", "ggml_aligned_malloc", "malloc_multiply", "memdup",
	"greedy_realloc", "greedy_realloc0", "xmallocz", "xmallocz_gently",
	"xmemdupz", "do_xmalloc", "do_xmallocz",
	/* functions of all these projects that free */
	"ggc_free", "_obstack_free", "rpl_free",
	"zfree_usable", "zfree_with_size", "zfree_no_tcache",
	"valkey_free", "hi_free", "sqlite3MemFree", "sqlite3_free",
	"sqlite3DbFree", "sqlite3DbFreeNN", "sqlite3DbNNFreeNN",
	"CRYPTO_free", "CRYPTO_clear_free", "CRYPTO_aligned_free",
	"OPENSSL_free", "g_free", "g_free_sized",
	"g_slice_free1", "g_slice_free_chain_with_offset", "g_aligned_free",
	"g_aligned_free_sized", "PyMem_Free", "PyMem_RawFree",
	"_PyMem_RawFree", "_PyMem_DebugFree", "_PyMem_DebugRawFree",
	"PyObject_Free", "_PyObject_Free", "Perl_safesysfree", "ruby_xfree",
	"ruby_sized_xfree", "objspace_xfree", "rb_gc_impl_free", "_efree",
	"_efree_large", "_efree_huge", "__zend_free", "luaM_free_",
	"Tcl_Free", "TclpFree", "pfree", "AllocSetFree", "pg_free",
	"apr_allocator_free", "ngx_pfree", "av_free", "av_freep",
	"ggml_aligned_free", "mfree",
};

/* Names without template arguments; "*" matches any rest. */
static const struct {
	const char *library;	/* the begin of its name */
	const char *name;
} members[] = {
	/* OpenJDK's HotSpot; hotspot/share/memory, services, runtime/os */
	{ "libjvm.", "os::malloc" },
	{ "libjvm.", "os::realloc" },
	{ "libjvm.", "os::strdup" },
	{ "libjvm.", "os::strdup_check_oom" },
	{ "libjvm.", "os::free" },
	{ "libjvm.", "AllocateHeap" },
	{ "libjvm.", "ReallocateHeap" },
	{ "libjvm.", "FreeHeap" },
	{ "libjvm.", "CHeapObj::operator *" },
	{ "libjvm.", "CHeapObjBase::operator *" },
	{ "libjvm.", "AnyObj::operator *" },
	{ "libjvm.", "ResourceObj::operator *" },
	{ "libjvm.", "ArenaObj::operator *" },
	{ "libjvm.", "Arena::*" },
	{ "libjvm.", "Chunk::*" },
	{ "libjvm.", "ChunkPool::*" },
	{ "libjvm.", "resource_allocate_bytes" },
	{ "libjvm.", "resource_reallocate_bytes" },
	{ "libjvm.", "ArrayAllocator::*" },
	{ "libjvm.", "MallocArrayAllocator::*" },
	{ "libjvm.", "GrowableArrayCHeapAllocator::*" },
	{ "libjvm.", "GrowableArrayArenaAllocator::*" },
	{ "libjvm.", "GrowableArrayResourceAllocator::*" },
	{ "libjvm.", "GrowableArrayCHeap::allocate" },
	{ "libjvm.", "GrowableArray::allocate" },
	{ "libjvm.", "GrowableArrayWithAllocator::grow" },
	{ "libjvm.", "GrowableArrayWithAllocator::expand_to" },
	{ "libjvm.", "NMTPreInit::*" },
	{ "libjvm.", "NMTPreInitAllocation::*" },
	{ "libjvm.", "NMTPreInitAllocationTable::*" },
	{ "libjvm.", "MallocTracker::*" },
	{ "libjli.", "JLI_MemAlloc" },
	{ "libjli.", "JLI_MemRealloc" },
	{ "libjli.", "JLI_StringDup" },
	{ "libjli.", "JLI_MemFree" },
};

static const char *const prefixes[] = {
	"", "x", "xx", "z", "e", "s", "k", "x_", "my_", "do_", "safe_",
	"checked_", "sh_x",
};

static const char *const spellings[] = {
	"malloc", "calloc", "realloc", "reallocarray", "zalloc", "memalign",
	"aligned_alloc", "posix_memalign", "strdup", "strndup", "free",
	"cfree", "free_sized", "free_aligned_sized",
};

/* Is this the function's name? After the name come parameters, or a compiler's
 * suffix for a part of the function (.cold, " [clone"). */
static bool is_named(const char *function, const char *word)
{
	size_t size = strlen(word);

	return strncmp(function, word, size) == 0 &&
		strchr("(. @", function[size]) != NULL;
}

static bool is_wrapper(const char *function)
{
	for (size_t i = 0; i < COUNT(wrappers); i++)
		if (is_named(function, wrappers[i]))
			return true;
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		size_t size = strlen(prefixes[i]);

		if (strncmp(function, prefixes[i], size) != 0)
			continue;
		for (size_t j = 0; j < COUNT(spellings); j++)
			if (is_named(function + size, spellings[j]))
				return true;
	}
	return false;
}

static bool begins_with_one(const char *text, const char *const *words,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/*
 * The demangled name of a function template begins with its result type.
 * Returns the name after the last blank outside of brackets.
 */
static const char *without_result(const char *function)
{
	const char *name = function;
	int depth = 0;

	if (strncmp(function, "operator ", 9) == 0)
		return function;
	for (const char *p = function; *p != 0 && *p != '('; p++) {
		if (strncmp(p, "operator", 8) == 0)
			break;
		if (*p == '<')
			depth++;
		else if (*p == '>')
			depth--;
		else if (*p == ' ' && depth == 0)
			name = p + 1;
	}
	return name;
}

/* Skips the template arguments in brackets, of which the first is at *p. */
static const char *skip_brackets(const char *p)
{
	int depth = 0;

	DEBUG_ASSERT(*p == '<');
	for (; *p != 0; p++) {
		depth += *p == '<';
		/* "->" is in the types of Rust's functions. */
		depth -= *p == '>' && p[-1] != '-';
		if (depth == 0)
			return p + 1;
	}
	return p;
}

/* Is this the function's name, without template arguments? */
static bool is_member(const char *function, const char *word)
{
	const char *p = function;

	for (; *word != 0 && *word != '*'; word++) {
		if (*p == '<')
			p = skip_brackets(p);
		if (*p++ != *word)
			return false;
	}
	if (*p == '<')
		p = skip_brackets(p);
	return *word == '*' || strchr("(. @", *p) != NULL;
}

static bool is_wrapping_member(const char *library, const char *function)
{
	const char *name = without_result(function);

	for (size_t i = 0; library != NULL && i < COUNT(members); i++)
		if (begins_with_one(library, &members[i].library, 1) &&
		    is_member(name, members[i].name))
			return true;
	return false;
}

/* ---- Rust ---- */

static bool is_of_crates(const char *path)
{
	for (size_t i = 0; i < COUNT(crates); i++) {
		size_t size = strlen(crates[i]);

		if (strncmp(path, crates[i], size) == 0 &&
		    strncmp(path + size, "::", 2) == 0)
			return true;
	}
	return false;
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Whether std may implement something for the type: a type of its own, or one
 * of no crate: T, u8, [T], (A, B). */
static bool is_type_of_crates(const char *type)
{
	static const char *const marks[] = {
		"<", "&", "mut ", "const ", "*", "dyn ", "'_ ",
	};
	size_t size;

	for (size_t i = 0; i < COUNT(marks); i++)
		if (begins_with(type, marks[i])) {
			type += strlen(marks[i]);
			i = (size_t)-1;	/* again from the first */
		}
	if (*type == '[' || *type == '(' || begins_with(type, "fn("))
		return true;
	size = strcspn(type, ":<>[]() ,;{");
	return !begins_with(type + size, "::") || is_of_crates(type);
}

/* The trait of "<TYPE as TRAIT>::f"; NULL: there is none. */
static const char *trait_of(const char *function)
{
	int depth = 0;

	for (const char *p = function; *p != 0; p++) {
		depth += *p == '<';
		depth -= *p == '>' && p[-1] != '-';
		if (depth == 0)
			return NULL;
		if (depth == 1 && begins_with(p, " as "))
			return p + 4;
	}
	return NULL;
}

/* Does the name end as C++ names do: in parameters, and their qualifiers? */
static bool has_parameters(const char *function)
{
	const char *end = strstr(function, " [clone");

	if (end == NULL)
		end = function + strlen(function);
	if (end - function > 6 && begins_with(end - 6, " const"))
		end -= 6;
	return end > function && end[-1] == ')';
}

static bool is_of_rust(const char *function)
{
	const char *trait;

	if (has_parameters(function))
		return false;
	if (*function != '<')
		return is_of_crates(function);
	trait = trait_of(function);
	/* A trait within a function of a type: <[_]>::to_vec_in::ConvertVec. */
	return is_type_of_crates(function + 1) &&
		(trait == NULL || is_of_crates(trait) ||
		 (*trait == '<' && is_type_of_crates(trait)));
}

/* ---- all criteria ---- */

bool wrapper_is_function(const char *function, const char *name)
{
	return is_member(without_result(function), name);
}

bool wrapper_allocates(const char *library, const char *function)
{
	return function != NULL && (is_wrapper(function) ||
				    is_wrapping_member(library, function));
}

bool wrapper_is_part(bool nameless, const char *library,
		     const char *outer_library, bool outer_wraps)
{
	return outer_wraps && nameless && library != NULL &&
		outer_library != NULL && strcmp(library, outer_library) == 0;
}

bool wrapper_is(const char *library, const char *function)
{
	if (library != NULL &&
	    (begins_with_one(library, libraries, COUNT(libraries)) ||
	     strcmp(library, loader_mips) == 0))
		return true;
	return function != NULL &&
		(wrapper_allocates(library, function) || is_of_rust(function) ||
		 begins_with_one(function, beginnings, COUNT(beginnings)) ||
		 begins_with_one(without_result(function), beginnings,
				 COUNT(beginnings)));
}
