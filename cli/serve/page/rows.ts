/*
 * Rows of reports: their names, for each key of `--by`, and the columns of
 * measures in tables.
 */
import { fitName } from "../../page/names";
import * as quantity from "../../page/quantity";
import { Pair } from "./address";
import { Figures, Frame, Row } from "./answers";
import { Child, h } from "./dom";
import { exactly } from "./options";
import { Column } from "./table";
import * as words from "./as_command";

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

const ROOM = 28;		/* maximum of letters for frames other than the
				 * site */

/* The key columns of `sums` for each --by. */
const COLUMNS: Record<string, string> = { stack: "context, function, file, line",
	site: "function, file, line, library", function: "function, library",
	line: "file, line", thread: "thread, thread_name" };
const MEASURES: Record<string, string> = { count: "count",
	temporary: "temporary", lifetime: "lifetime_ns", age: "age_ns" };

/* The column of `sums` for a sort key. */
export function measure(sort: string): string {
	return MEASURES[sort] ?? `${sort.replace("-", "_")}_bytes`;
}

export function asSql(by: string, sort: string, filters: Pair[]): string {
	return words.sums(by.split(",").map((word) => COLUMNS[word] ??
		word.replace("-", "_")).join(", "),
		measure(sort), filters);
}

type Any = Record<string, unknown>;

function within(row: Any): Any {
	return (row.within ?? row) as Any;
}

function text(value: unknown, none: string): string {
	return value === null || value === undefined || value === "" ? none :
		String(value);
}

function frameName(frame: Frame | undefined): HTMLElement {
	return h("span", {}, h("code", {}, words.name(frame)),
		 h("small", {}, ` ${words.place(frame)}`));
}

/* What distinguishes call stacks of one site: the frames in which they differ,
 * from the site inward and then outward. */
const ways = new WeakMap<Row, Frame[]>();

function textOf(frame: Frame | undefined): string {
	return frame ? `${words.name(frame)} ${words.place(frame)}` : "";
}

function part(all: Row[], key: (row: Row) => string): Row[][] {
	const parts = new Map<string, Row[]>();

	for (const row of all)
		parts.set(key(row), [...parts.get(key(row)) ?? [], row]);
	return Array.from(parts.values());
}

function otherFrames(row: Row): Frame[] {
	const stack = row.stack ?? [], at = row.site ?? 0;

	return [...stack.slice(0, at).reverse(), ...stack.slice(at + 1)];
}

function split(all: Row[], from: number): void {
	const far = all.map(otherFrames);
	const end = Math.max(...far.map(({ length }) => length));

	for (let i = from; i < end; i++) {
		const parts = part(all, (row) => textOf(otherFrames(row)[i]));

		if (parts.length === 1)
			continue;
		all.forEach((row, k) => {
			if (far[k][i])
				ways.get(row)?.push(far[k][i]);
		});
		for (const one of parts)
			if (one.length > 1)
				split(one, i + 1);
		return;
	}
}

/* Call it once for the rows of an answer, before they are shown. */
export function tellApart(all: Row[]): void {
	for (const one of part(all, (row) => textOf(words.site(row)))) {
		for (const row of one)
			ways.set(row, []);
		if (one.length > 1)
			split(one, 0);
	}
}

function stackName(row: Row): Child {
	const name = frameName(words.site(row));

	/* The most specific frame comes first. */
	for (const frame of [...ways.get(row) ?? []].reverse())
		name.append(h("small", {}, " · ", fitName(words.name(frame),
			ROOM), ` ${words.place(frame)}`));
	return name;
}

/* The name of a row for each key of --by. */
const NAMES: Record<string, (row: Row) => Child> = {
	stack: stackName,
	site: (row) => frameName(words.site(row)),
	function: (row) => {
		const one = within(row);

		return h("span", {}, h("code", {}, text(one.function,
			"(code in no file)")), h("small", {},
			` ${text(one.library, "")}`));
	},
	file: (row) => h("code", {}, text(within(row).file,
					  "(unknown file)")),
	line: (row) => h("code", {}, row.file ? `${words.base(String(
		row.file))}:${String(row.line)}` : "(unknown line)"),
	library: (row) => h("code", {}, text(within(row).library,
					     "(no library)")),
	thread: (row) => `${text(row.thread, "(unknown)")} ` +
		text(row.tid, ""),
	process: (row) => `${text(row.program, "")} ${text(row.pid, "")}`,
	size: (row) => row.size === undefined || row.size === null ?
		"(unknown)" : quantity.size(Number(row.size)),
	"size-class": (row) => row.size_min === undefined ? "(unknown)" :
		`${quantity.size(Number(row.size_min))} – ` +
		quantity.size(Number(row.size_max)),
	"lifetime-class": (row) => row.freed === false ? "never freed" :
		`${quantity.time(Number(row.lifetime_min_ns ?? 0))} – ` +
		quantity.time(Number(row.lifetime_max_ns ?? 0)),
	arena: (row) => text(row.arena, "(unknown)"),
	mapping: (row) => text(row.mapping, "anonymous"),
	heap: (row) => text(row.heap, "malloc"),
};

export function name(row: Row, by: string): Child {
	const parts = by.split(",").map((word) =>
		NAMES[word.replace(/^within-/, "")]?.(row));

	return h("span", {}, ...parts.flatMap((part, i) =>
		i ? [" · ", part] : [part]));
}

/* The filters that select only this row; empty: there are none. */
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
			add("function", words.site(row)?.named ?
			    words.site(row)?.function : null);
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

/* ---- measures ---- */

interface Figure {
	name: string;		/* key of --sort */
	title: string;
	help: string;
	unit: "bytes" | "count" | "ns";
	of(row: Figures): number | undefined;
	wide: number;
}

export const FIGURES: Figure[] = [
	{ name: "live", title: "Live", unit: "bytes", wide: 76,
	  help: "live bytes at the end, or at the moment of “alive at”",
	  of: (row) => row.live_bytes },
	{ name: "blocks", title: "Blocks", unit: "count", wide: 72,
	  help: "live blocks", of: (row) => row.live_blocks },
	{ name: "peak", title: "At peak", unit: "bytes", wide: 76,
	  help: "its share of the global peak",
	  of: (row) => row.peak_bytes },
	{ name: "own-peak", title: "Own peak", unit: "bytes", wide: 82,
	  help: "its own maximum of live bytes, at any time",
	  of: (row) => row.own_peak_bytes },
	{ name: "total", title: "Total", unit: "bytes", wide: 76,
	  help: "all bytes ever allocated", of: (row) => row.total_bytes },
	{ name: "count", title: "Allocations", unit: "count", wide: 96,
	  help: "number of allocations", of: (row) => row.count },
	{ name: "temporary", title: "Temporary", unit: "count", wide: 92,
	  help: "blocks freed before their thread's next allocation",
	  of: (row) => row.temporary },
	{ name: "lifetime", title: "Freed after", unit: "ns", wide: 96,
	  help: "mean lifetime of freed blocks",
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

/* Columns of all measures. The one that rows are sorted by has bars for each
 * row's share of `whole`. */
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
