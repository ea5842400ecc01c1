/*
 * Rows of reports: how each is called, by what `--by` says a row is, and the
 * figures that tables show of it.
 */
import * as quantity from "../../page/quantity";
import { Pair } from "./address";
import { Figures, Frame, Row } from "./answers";
import { Child, h } from "./dom";
import { exactly } from "./options";
import { Column } from "./table";
import * as words from "./words";

export const BY: [string, string][] = [["stack", "call stack"],
	["site", "site"], ["function", "function"], ["file", "file"],
	["line", "line"], ["library", "library"],
	["within-function", "any function of the stack"],
	["within-file", "any file of the stack"],
	["within-library", "any library of the stack"],
	["thread", "thread"], ["size", "size"], ["size-class", "size class"],
	["lifetime-class", "lifetime class"], ["arena", "arena"],
	["mapping", "mapping"], ["heap", "heap"], ["library,thread",
	"library and thread"], ["function,thread", "function and thread"],
	["function,size-class", "function and size class"]];

export const SORTS: [string, string][] = [["live", "live bytes"],
	["peak", "bytes at the peak"], ["own-peak", "own peak"],
	["total", "total bytes"], ["count", "allocations"],
	["temporary", "temporary blocks"], ["lifetime", "mean lifetime"],
	["age", "age"], ["freed", "freed bytes"]];

type Any = Record<string, unknown>;

function within(row: Any): Any {
	return (row.within ?? row) as Any;
}

function text(value: unknown, none: string): string {
	return value === null || value === undefined || value === "" ? none :
		String(value);
}

function frameName(frame: Frame | undefined): Child {
	return h("span", {}, h("code", {}, words.name(frame)),
		 h("small", {}, ` ${words.place(frame)}`));
}

/* One for each word of --by. */
const NAMES: Record<string, (row: Row) => Child> = {
	stack: (row) => frameName(row.stack?.[0]),
	site: (row) => frameName(row.stack?.[0]),
	function: (row) => {
		const one = within(row);

		return h("span", {}, h("code", {}, text(one.function,
			"(code in no file)")), h("small", {},
			` ${text(one.library, "")}`));
	},
	file: (row) => h("code", {}, text(within(row).file,
					  "(file not known)")),
	line: (row) => h("code", {}, row.file ? `${words.base(String(
		row.file))}:${String(row.line)}` : "(line not known)"),
	library: (row) => h("code", {}, text(within(row).library,
					     "(no library)")),
	thread: (row) => `${text(row.thread, "(not known)")} ` +
		text(row.tid, ""),
	process: (row) => `${text(row.program, "")} ${text(row.pid, "")}`,
	size: (row) => row.size === undefined || row.size === null ?
		"(not known)" : quantity.size(Number(row.size)),
	"size-class": (row) => row.size_min === undefined ? "(not known)" :
		`${quantity.size(Number(row.size_min))} – ` +
		quantity.size(Number(row.size_max)),
	"lifetime-class": (row) => row.freed === false ? "never freed" :
		`${quantity.time(Number(row.lifetime_min_ns ?? 0))} – ` +
		quantity.time(Number(row.lifetime_max_ns ?? 0)),
	arena: (row) => text(row.arena, "(not known)"),
	mapping: (row) => text(row.mapping, "of no file"),
	heap: (row) => text(row.heap, "malloc"),
};

export function name(row: Row, by: string): Child {
	const parts = by.split(",").map((word) =>
		NAMES[word.replace(/^within-/, "")]?.(row));

	return h("span", {}, ...parts.flatMap((part, i) =>
		i ? [" · ", part] : [part]));
}

/* The filters that select just this row; none: it cannot be said. */
export function filtersOf(row: Row, by: string): Pair[] {
	const one = within(row);
	const all: Pair[] = [];
	const add = (option: string, value: unknown, exact = true) => {
		if (value !== null && value !== undefined && value !== "")
			all.push([option, exact ? exactly(String(value)) :
				  String(value)]);
	};

	for (const word of by.split(","))
		if (word === "stack")
			add("context", row.context, false);
		else if (word === "site")
			add("function", row.stack?.[0]?.named ?
			    row.stack[0].function : null);
		else if (word.endsWith("function"))
			add("function", one.named === false ? null :
			    one.function);
		else if (word.endsWith("file"))
			add("source", one.file && words.base(
				String(one.file)));
		else if (word.endsWith("library"))
			add("library", one.library);
		else if (word === "thread")
			add("thread", row.tid, false);
		else if (word === "size")
			all.push(["size-min", String(row.size)],
				 ["size-max", String(row.size)]);
		else if (word === "size-class" && row.size_min !== undefined)
			all.push(["size-min", String(row.size_min)],
				 ["size-max", String(row.size_max)]);
		else if (word === "arena" &&
			 /^(main|other)$/.test(String(row.arena)))
			add("arena", row.arena, false);
		else if (word === "mapping")
			all.push(["map", exactly(String(row.mapping ?? ""))]);
	return all;
}

/* ---- figures ---- */

interface Figure {
	name: string;		/* of --sort */
	title: string;
	help: string;
	unit: "bytes" | "count" | "ns";
	of(row: Figures): number | undefined;
	wide: number;
}

export const FIGURES: Figure[] = [
	{ name: "live", title: "Live", unit: "bytes", wide: 76,
	  help: "bytes live at the end, or at the moment of “alive at”",
	  of: (row) => row.live_bytes },
	{ name: "blocks", title: "Blocks", unit: "count", wide: 72,
	  help: "blocks that are live", of: (row) => row.live_blocks },
	{ name: "peak", title: "At peak", unit: "bytes", wide: 76,
	  help: "its share of the moment when the program held most",
	  of: (row) => row.peak_bytes },
	{ name: "own-peak", title: "Own peak", unit: "bytes", wide: 82,
	  help: "the most that it held itself, at any time",
	  of: (row) => row.own_peak_bytes },
	{ name: "total", title: "Total", unit: "bytes", wide: 76,
	  help: "all bytes ever allocated", of: (row) => row.total_bytes },
	{ name: "count", title: "Allocations", unit: "count", wide: 96,
	  help: "how often it allocated", of: (row) => row.count },
	{ name: "temporary", title: "Temporary", unit: "count", wide: 92,
	  help: "blocks freed before their thread's next allocation",
	  of: (row) => row.temporary },
	{ name: "lifetime", title: "Lifetime", unit: "ns", wide: 84,
	  help: "mean, of blocks that were freed",
	  of: (row) => row.lifetime_ns },
];

export function figure(unit: Figure["unit"], value: number | undefined):
		string {
	if (value === undefined)
		return "…";
	if (value === 0)
		return "–";
	if (unit === "bytes")
		return quantity.size(value);
	return unit === "ns" ? quantity.time(value) : quantity.count(value);
}

/* Columns of all figures; of the one that rows are sorted by, a bar behind each
 * says its share of `whole`. */
export function columns<R extends Figures>(sort: string, whole: number):
		Column<R>[] {
	return FIGURES.map(({ name, title, help, unit, of, wide }) => ({
		name, title, help, wide, right: true, sorts: name !== "blocks",
		cell: (row: R) => figure(unit, of(row)),
		share: name === sort && whole > 0 && unit !== "ns" ?
			(row: R) => (of(row) ?? 0) / whole : undefined }));
}

export function valueOf(sort: string): (row: Figures) => number {
	const of = FIGURES.find(({ name }) => name === sort)?.of;

	return (row) => of ? of(row) ?? 0 : row.live_bytes;
}
