/*
 * The data of the address space picture: runs of pages with live blocks,
 * mappings, and spaces: ranges of both that are close together. No drawing and
 * no calls.
 *
 *	mapping     ├──────── allocator ────────┤      ├─ other ─┤
 *	runs           ▓▓▓  ▓    ▓▓▓▓▓▓   ▓
 *	space       ├───────────────────────────┤  > 1 MiB
 */
import { Cell } from "./answers";

const GAP_BYTES = 1 << 20;	/* larger gaps separate spaces */
const RUNS = 4000;		/* maximum in an answer; more are merged */

/* Adjacent pages with live blocks, or several merged runs. */
export interface Run {
	from: number;
	to: number;
	bytes: number;		/* bytes of its pages */
	live: number;		/* bytes of live blocks */
	mapping: string;
}

export interface Mapping {
	from: number;
	to: number;
	allocator: boolean;	/* the heap, or mapped by malloc */
	name: string;
}

export interface Memory {
	runs: Run[];		/* sorted by address, like mappings */
	mappings: Mapping[];
	page: number;		/* page size in bytes */
}

export interface Space {
	from: number;
	to: number;
	name: string;
	bytes: number;		/* bytes of pages with live blocks */
	live: number;
}

type Line = Record<string, Cell>;

export interface Range {
	from: number;
	to: number;
}

/* SQL for the runs of a range, limited to RUNS, and for the mappings there at
 * the end. */
export function statement(range?: Range): string {
	const inside = (end: string) => range ? ` where address < ${range.to} ` +
		`and ${end} > ${range.from}` : "";

	return `with p as materialized (select address, pages, page_size,
    live_bytes, mapping from pages${inside("address + pages * page_size")}),
g as (select case when count(*) <= ${RUNS} then 1
    else max(1, sum(pages) / ${RUNS}) end * max(page_size) as bytes from p)
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

/* The index of the first range that ends above an address. */
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

/* The elements that overlap a range. */
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

/* The spaces of live blocks and the allocator's mappings, longest first;
 * `only`: clipped to a range. */
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

/* A range as in the URL of the page. */
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
