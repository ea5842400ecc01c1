/*
 * The parts of resident memory as one bar: live blocks, free memory that they
 * keep, free memory in the allocator, and everything outside the heap.
 */
import * as quantity from "../../page/quantity";
import { Cell } from "./answers";
import { h, svg } from "./dom";

export const RESIDENCY = "select * from residency order by time_ns desc limit 1";

interface Kind {
	column: string;
	name: string;
	kind: string;		/* colour class in the style sheet */
	help: string;
}

/* The same names and colours in all views. */
export const KINDS: Kind[] = [
	{ column: "live_bytes", name: "live blocks", kind: "k0",
	  help: "blocks that the program has not freed" },
	{ column: "fragmented_bytes", name: "fragmented", kind: "k1",
	  help: "free, but on pages that live blocks keep" },
	{ column: "free_bytes", name: "free in the allocator", kind: "k5",
	  help: "pages without live blocks that the allocator keeps" },
	{ column: "mapped_bytes", name: "mapped by the program", kind: "k4",
	  help: "by mmap, not by the allocator" },
	{ column: "files_bytes", name: "files and shared", kind: "k2",
	  help: "code, data of libraries, shared memory" },
	{ column: "stacks_bytes", name: "stacks", kind: "k6",
	  help: "stacks of threads" },
	{ column: "recorder_bytes", name: "gnomon's own", kind: "k3",
	  help: "used by the recording" },
	{ column: "rest_bytes", name: "unknown", kind: "k7",
	  help: "of unknown origin" },
];

const WIDE = 1000, HIGH = 14;

export function residentFigure(row: Record<string, Cell> | undefined):
		HTMLElement | null {
	const of = (column: string) => Number(row?.[column] ?? 0);
	const all = of("rss_bytes");
	const heap = of("live_bytes") + of("fragmented_bytes") +
		of("free_bytes");
	let x = 0;

	if (!row || all <= 0)
		return null;
	const shown = KINDS.filter(({ column }) => of(column) > 0);
	const rects = shown.map(({ column, name, kind }) => {
		const wide = of(column) / all * WIDE;

		x += wide;
		return svg("rect", { class: `area ${kind}`, x: x - wide, y: 0,
				     width: wide, height: HIGH },
			   svg("title", {}, `${name}: ${quantity.size(
				   of(column))}`));
	});
	return h("div", { class: "parts resident" },
		h("p", {}, `At the last snapshot, after ${quantity.time(
			of("time_ns"))}, of `, h("b", {}, quantity.size(all)),
		  " resident memory, the heap has ", h("b", {},
		  quantity.size(heap)), ", of which ", h("b", {},
		  quantity.percent(of("live_bytes"), heap)), " is live blocks; ",
		  h("b", {}, quantity.size(of("fragmented_bytes"))),
		  " is lost to fragmentation."),
		svg("svg", { class: "parts-bar", viewBox: `0 0 ${WIDE} ${HIGH}`,
			     preserveAspectRatio: "none", role: "img",
			     "aria-label": "resident memory by kind" }, ...rects),
		h("ul", {}, ...shown.map(({ column, name, kind, help }) =>
			h("li", { title: help }, h("i", { class:
				`swatch ${kind}` }), `${name} `, h("b", {},
				quantity.size(of(column)))))));
}
