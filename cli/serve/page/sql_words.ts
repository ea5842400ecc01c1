/*
 * The data of the SQL console: tables and columns as `.schema` prints them, SQL
 * keywords, and the example queries of docs/SQL.md.
 */
import text from "../../../docs/SQL.md";

export interface Named {
	name: string;
	kind: "table" | "column" | "function" | "word";
	help: string;
	table?: string;
}

export interface TableOf {
	name: string;
	help: string;
	columns: Named[];
}

export interface Question {
	title: string;
	statement: string;
}

const WORDS = "select from where group by order limit having with as join on " +
	"using left and or not in is null like regexp between case when then " +
	"else end distinct count sum min max avg total coalesce nullif round " +
	"abs length substr upper lower printf union all desc asc over partition " +
	"rows lag lead first_value row_number cast integer real text values " +
	"recursive explain query plan exists offset escape";
const FUNCTIONS: [string, string][] = [
	["stack", "the functions of a call stack, innermost first"],
	["function", "function of the call stack's site"], ["file",
		"source file of the site"],
	["line", "line of the site"], ["library", "library of the site"],
	["human", "a size in human-readable form"],
	["duration", "a time in human-readable form"]];

/* Parses `-- help of the table`, then CREATE TABLE name( column TYPE, -- help
 * ... */
export function schema(printed: string): TableOf[] {
	const tables: TableOf[] = [];
	let help = "";

	for (const line of printed.split("\n")) {
		const begin = /^CREATE (?:VIRTUAL )?TABLE (\w+)/.exec(line);
		const column = /^\s+(\w+) ([A-Z]*)[^-]*(?:-- (.*))?$/.exec(line);
		const said = /^-- (.*)$/.exec(line);

		if (said)
			help = said[1];
		else if (begin)
			tables.push({ name: begin[1], help, columns: [] });
		else if (column && tables.length)
			tables[tables.length - 1].columns.push({
				name: column[1], kind: "column",
				help: column[3] ?? "",
				table: tables[tables.length - 1].name });
	}
	return tables;
}

/* Completions of a name; columns of tables in use come first. */
export function completions(tables: TableOf[], statement: string,
			    begun: string): Named[] {
	const used = new Set(statement.toLowerCase().match(/\w+/g) ?? []);
	const all: Named[] = [
		...tables.filter(({ name }) => used.has(name))
			.flatMap(({ columns }) => columns),
		...tables.map(({ name, help }): Named =>
			({ name, kind: "table", help })),
		...FUNCTIONS.map(([name, help]): Named =>
			({ name, kind: "function", help })),
		...tables.filter(({ name }) => !used.has(name))
			.flatMap(({ columns }) => columns),
		...WORDS.split(" ").map((name): Named =>
			({ name, kind: "word", help: "" }))];
	const seen = new Set<string>();
	const start = begun.toLowerCase();

	return all.filter(({ name }) => name.startsWith(start) &&
		name !== start && !seen.has(name) && seen.add(name));
}

export const isWord = (word: string) =>
	WORDS.split(" ").includes(word.toLowerCase());

/* "### 1. What was leaked?" with the statement below it. */
export function questions(): Question[] {
	const all = text.matchAll(
		/^### \d+\. (.+)\n+```sql\n([\s\S]*?)```/gm);

	return Array.from(all, ([, title, statement]) =>
		({ title, statement: statement.trim() }));
}

/* ---- history ---- */

const KEY = "gnomon-sql-history";
const KEPT = 40;

export function history(): string[] {
	try {
		return JSON.parse(localStorage.getItem(KEY) ?? "[]") as string[];
	} catch {
		return [];
	}
}

export function remember(statement: string): void {
	const all = [statement, ...history().filter((one) =>
		one !== statement)].slice(0, KEPT);

	try {
		localStorage.setItem(KEY, JSON.stringify(all));
	} catch {
		return;
	}
}

/* ---- errors ---- */

/* The word of a statement that a message refers to; null: it has no
 * position. */
export function placeOf(message: string, statement: string):
		[number, number] | null {
	const told = /: line (\d+), column (\d+)(?:: |$)/.exec(message);

	if (!told)
		return null;
	const before = statement.split("\n").slice(0, Number(told[1]) - 1);
	const from = Math.min(statement.length - 1, before.join("\n").length +
		(before.length ? 1 : 0) + Number(told[2]) - 1);
	const word = /^\w+/.exec(statement.slice(from))?.[0] ?? " ";
	return from < 0 ? null : [from, from + word.length];
}
