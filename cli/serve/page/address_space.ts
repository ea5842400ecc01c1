/*
 * The address space as the picture of it needs it: runs of pages with live blocks,
 * mappings, and ranges of both that lie together. No drawing, and no questions.
 *
 *	mapping     ├──────── allocator ────────┤      ├─ other ─┤
 *	runs           ▓▓▓  ▓    ▓▓▓▓▓▓   ▓
 *	space       ├───────────────────────────┤  > 1 MiB
 */
import { Cell } from "./answers";

const GAP_BYTES = 1 << 20;	/* what is further apart is another space */
const RUNS = 4000;		/* of an answer; more are joined to so many */

/* Adjacent pages with live blocks, or several such runs close to each other. */
export interface Run {
	from: number;
	to: number;
	bytes: number;		/* of its pages */
	live: number;		/* of them, in live blocks */
	mapping: string;
}

export interface Mapping {
	from: number;
	to: number;
	allocator: boolean;	/* the heap, or another that malloc made */
	name: string;
}

export interface Memory {
	runs: Run[];		/* by address, as all */
	mappings: Mapping[];
	page: number;		/* bytes */
}

export interface Space {
	from: number;
	to: number;
	name: string;
	bytes: number;		/* of pages with live blocks */
	live: number;
}

type Line = Record<string, Cell>;

export interface Range {
	from: number;
	to: number;
}

/* Asks for the runs of a range, at most some thousand of them, and for what was
 * mapped there at the end. */
export function statement(range?: Range): string {
	const inside = (end: string) => range ? ` where address < ${range.to} ` +
		`and ${end} > ${range.from}` : "";

	return `with p as materialized (select address, pages, page_size,
    live_bytes, mapping from pages${inside("address + pages * page_size")}),
g as (select max(1, count(*) / ${RUNS}) * max(page_size) as bytes from p)
select min(address) as begin, max(address + pages * page_size) as end,
    sum(pages) * max(page_size) as bytes, sum(pages * live_bytes) as live,
    max(page_size) as page, mapping
from p, g group by address / g.bytes, mapping order by 1`;
}

export const MAPPINGS = `select address, size, path, origin from maps
where end_ns is null order by address`;

export function runsOf(rows: Line[]): Run[] {
	return rows.map((row) => ({ from: Number(row.begin), to: Number(row.end),
		bytes: Number(row.bytes), live: Number(row.live),
		mapping: String(row.mapping ?? "") }));
}

export function mappingsOf(rows: Line[]): Mapping[] {
	return rows.map((row) => ({ from: Number(row.address),
		to: Number(row.address) + Number(row.size),
		allocator: row.path === "[heap]" || row.origin === "malloc",
		name: String(row.path ?? "of no file") }));
}

/* The first whose end is above an address. */
export function firstAbove(all: Range[], address: number): number {
	let low = 0, high = all.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (all[middle].to > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Those that overlap a range. */
export function within<T extends Range>(all: T[], range: Range): T[] {
	const found: T[] = [];

	for (let i = firstAbove(all, range.from); i < all.length &&
	     all[i].from < range.to; i++)
		found.push(all[i]);
	return found;
}

function clip(one: Range, to: Range | undefined): Range {
	return to ? { from: Math.max(one.from, to.from),
		      to: Math.min(one.to, to.to) } : one;
}

/* Where live blocks and the allocator's mappings lie together, the longest
 * first; `only`: of what lies in a range. */
export function spacesOf({ runs, mappings }: Memory, only?: Range): Space[] {
	const all: Space[] = [];
	const parts = [...runs.map((run) => ({ ...clip(run, only), run,
		name: run.mapping || "of no file" })), ...mappings
		.filter(({ allocator }) => allocator).map((mapping) => ({
			...clip(mapping, only), run: undefined,
			name: mapping.name }))]
		.filter(({ from, to }) => from < to)
		.sort((a, b) => a.from - b.from);

	for (const { from, to, run, name } of parts) {
		let last = all[all.length - 1];

		if (!last || from - last.to >= GAP_BYTES) {
			last = { from, to, name, bytes: 0, live: 0 };
			all.push(last);
		}
		last.to = Math.max(last.to, to);
		last.bytes += run?.bytes ?? 0;
		last.live += run?.live ?? 0;
	}
	return all.filter(({ bytes }) => bytes > 0)
		.sort((a, b) => (b.to - b.from) - (a.to - a.from));
}

export const hex = (address: number) => `0x${Math.round(address).toString(16)}`;

/* As the address of the page has it. */
export function rangeOf(text: string | undefined): Range | undefined {
	const match = /^([0-9a-f]+)-([0-9a-f]+)$/.exec(text ?? "");
	const [from, to] = (match ?? []).slice(1).map((part) =>
		parseInt(part, 16));

	return from < to && to <= Number.MAX_SAFE_INTEGER ? { from, to } :
		undefined;
}

export function textOf({ from, to }: Range): string {
	return `${Math.floor(from).toString(16)}-${Math.ceil(to).toString(16)}`;
}
