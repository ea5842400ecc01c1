/*
 * wordy.cc: a program with long names: nested templates, nested scopes, a
 * source file deep in a tree, a deep stack with different functions, threads
 * with names, arguments that a shell would have to quote. Some of it leaks,
 * some grows by realloc. Prints how far its realloc chains grew.
 */
// FLAGS: -lpthread
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

#line 1 "/builds/continuous-integration/very-long-project/components/storage/engine/wordy.cc"
namespace an_organisation_with_a_long_name {
namespace storage_engine_implementation {
namespace detail_that_nobody_should_use {

template <typename Key, typename Value, typename Policy>
class ReferenceCountedConcurrentHashTableWithExpiry {
public:
	std::map<Key, std::vector<std::pair<Key, Value>>> entries;

	void insert_or_assign_with_hint(const Key &key, const Value &value)
	{
		entries[key].emplace_back(key, value);
	}
};

template <typename Key> struct EvictLeastRecentlyUsedEntriesFirst {};

template <int Level> struct DeeplyNestedConfigurationParserStage {
	static void parse_section_and_descend_into_children(int breadth)
	{
		for (int i = 0; i < breadth; i++) {
			void *leaked = malloc(100 + Level);

			memset(leaked, 1, 100);
			free(malloc(10));
		}
		DeeplyNestedConfigurationParserStage<Level - 1>::
			parse_section_and_descend_into_children(breadth);
		asm volatile("");
	}
};

template <> struct DeeplyNestedConfigurationParserStage<0> {
	static void parse_section_and_descend_into_children(int) {}
};

}
}
}

using namespace an_organisation_with_a_long_name::
	storage_engine_implementation::detail_that_nobody_should_use;

using Table = ReferenceCountedConcurrentHashTableWithExpiry<std::string,
	std::vector<std::string>,
	EvictLeastRecentlyUsedEntriesFirst<std::string>>;

static Table *table;

static void *grow_by_realloc(void *steps)
{
	char *text = nullptr;
	size_t size = 1000;

	pthread_setname_np(pthread_self(), "a thread's name");
	for (long i = 0; i < (long)steps; i++, size += 1000)
		text = (char *)realloc(text, size);
	return text;
}

int main()
{
	pthread_t thread;
	void *text;

	table = new Table;
	for (int i = 0; i < 50; i++)
		table->insert_or_assign_with_hint("a key that is longer than "
			"what fits into a string itself " + std::to_string(i),
			{ "one", "two" });
	DeeplyNestedConfigurationParserStage<40>::
		parse_section_and_descend_into_children(3);
	pthread_create(&thread, nullptr, grow_by_realloc, (void *)100);
	pthread_join(thread, &text);
	free(text);
	text = grow_by_realloc((void *)20);
	printf("chain_blocks 100\nlive_chain_bytes 20000\n");
	return text == nullptr;
}
