/*
 * sqlite_compat.h: SQLite's interface, for versions before 3.38 with what they
 * lack: they never hand LIMIT, OFFSET or all values of IN to a virtual table,
 * but ask it for each value, and know no position of an error.
 */
#ifndef GNOMON_SQLITE_COMPAT_H
#define GNOMON_SQLITE_COMPAT_H

#include <sqlite3.h>
#include <stddef.h>

#if SQLITE_VERSION_NUMBER < 3038000
#define SQLITE_INDEX_CONSTRAINT_LIMIT 73
#define SQLITE_INDEX_CONSTRAINT_OFFSET 74

static inline int sqlite3_vtab_in(sqlite3_index_info *info, int i, int handle)
{
	(void)info;
	(void)i;
	(void)handle;
	return 0;
}

static inline int sqlite3_vtab_rhs_value(sqlite3_index_info *info, int i,
					 sqlite3_value **value)
{
	(void)info;
	(void)i;
	*value = NULL;
	return SQLITE_NOTFOUND;
}

static inline int sqlite3_vtab_in_first(sqlite3_value *list,
					sqlite3_value **value)
{
	(void)list;
	*value = NULL;
	return SQLITE_ERROR;	/* not a list: the value itself */
}

static inline int sqlite3_vtab_in_next(sqlite3_value *list,
				       sqlite3_value **value)
{
	return sqlite3_vtab_in_first(list, value);
}

static inline int sqlite3_error_offset(sqlite3 *db)
{
	(void)db;
	return -1;
}
#endif

#endif
