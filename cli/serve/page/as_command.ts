/*
 * Equivalents of a view: a gnomon command, SQL, and stacks as text.
 */
import * as quantity from "../../page/quantity";
import { Pair } from "./address";
import { Frame, Trace } from "./answers";

function quoteWord(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word :
		`'${word.replace(/'/g, "'\\''")}'`;
}

/* Options only for programs. */
const OWN = new Set(["json", "frame-table", "ticket", "statement"]);

export function command(name: string, params: Pair[], trace: Trace,
			more: string[] = []): string {
	const options = params.filter(([option]) => !OWN.has(option))
		.map(([option, value]) => value === "" ? `--${option}` :
		     `--${option} ${quoteWord(value)}`);

	return ["gnomon", name, ...options, quoteWord(trace.path),
		...more.map(quoteWord)].join(" ");
}

/* Filters are columns of the tables that have blocks. They are called with_… if
 * the table has such a column or it is an SQL keyword (see the last table of
 * docs/SQL.md). */
export type Filtered = "blocks" | "block_counts" | "sums" | "timeline" |
	"pages" | "pinned";
const WITH: Record<Filtered, string[]> = {
	blocks: ["fate", "free-context", "thread", "arena", "mmapped", "heap",
		"context"],
	block_counts: ["thread"],
	sums: ["thread", "arena", "heap", "context", "function", "library"],
	timeline: [], pages: ["arena"], pinned: ["context"] };
const WITH_ANYWHERE = ["from", "to", "process"];
/* An option without a column: it defines "temporary" and selects nothing. */
const NO_COLUMN = "temporary";

/* Filters as an SQL condition (docs/SQL.md); "": none. */
export function condition(table: Filtered, filters: Pair[]): string {
	const values = new Map<string, string[]>();

	for (const [name, value] of filters)
		if (name !== NO_COLUMN)
			values.set(name, [...values.get(name) ?? [], value]);
	const all = Array.from(values).map(([name, list]) => {
		const column = name.replace(/-/g, "_");
		const full = WITH[table].includes(name) ||
			WITH_ANYWHERE.includes(name) ?
			`with_${column}` : column;
		const texts = list.map((one) => `'${one.replace(/'/g, "''")}'`);

		return texts.length === 1 ? `${full} = ${texts[0]}` :
			`${full} in (${texts.join(", ")})`;
	});
	return all.join("\n    and ");
}

export function where(table: Filtered, filters: Pair[]): string {
	const all = condition(table, filters);

	return all && `\nwhere ${all}`;
}

/* To append to another condition. */
export function and(table: Filtered, filters: Pair[]): string {
	const all = condition(table, filters);

	return all && `\n    and ${all}`;
}

/* Groups of the selected blocks, largest first. */
export function sums(columns: string, measure: string, filters: Pair[]): string {
	return `select ${columns}, ${measure}\nfrom sums${where("sums", filters)}\n` +
		`order by ${measure} desc limit 1000;`;
}

/* "1 thread", "2,000 threads" */
export function countText(count: number, what: string): string {
	return `${quantity.count(count)} ${what}${count === 1 ? "" : "s"}`;
}

/* ---- frames ---- */

export function base(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

export function name(frame: Frame | undefined): string {
	return frame?.function ?? "(code in no file)";
}

/* The site of a row's stack. */
export function site(row: { stack?: Frame[]; site?: number } | undefined):
		Frame | undefined {
	return row?.stack?.[row.site ?? 0];
}

export function place(frame: Frame | undefined): string {
	if (!frame?.file)
		return frame?.library ?? "";
	return frame.line ? `${base(frame.file)}:${frame.line}` :
		base(frame.file);
}

export function stackText(stack: Frame[]): string {
	return stack.map((frame) => [name(frame), place(frame),
		frame.library ?? ""].filter(Boolean).join("  ")).join("\n") +
		"\n";
}

export async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false;
	}
}
