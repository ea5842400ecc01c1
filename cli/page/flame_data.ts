/*
 * The flame graph tree that cli/flamegraph/flame_data.c wrote into the page.
 * Nodes are numbers in preorder from the root (0): the subtree of a node is
 * node + 1 … end[node] - 1. Children are drawn in descending order of the shown
 * cost, with "(n smaller)" last.
 */
import * as quantity from "./quantity";

export const COSTS = ["live", "peak", "total", "count", "temporary"] as const;
export type Cost = typeof COSTS[number];
type Plain = Cost | "live_blocks" | "peak_blocks";
/* A diff also has, for each stack, the value before, the change, and the larger
 * of both sides; all are sums over stacks, so they add up. */
export type Column = Plain | `${"before" | "change" | "larger"}_${Plain}`;
/* The width of boxes in a diff. */
export type Widths = "larger" | "change";

/* Equal time spans from the first event to the last. */
interface Timeline {
	start_ns: number;
	width_ns: number;
	end_ns: number;
	peak_ns: number;
	live: number[];		/* maximum in each span */
	allocated: number[];
	live_end: number;	/* after the last span */
}

/* Live bytes of some nodes at the end of each span from start_ns on, as
 * differences to the previous span. A node's track excludes the tracks inside
 * its subtree. */
interface Tracks {
	width_ns: number;
	nodes: number[];
	live: number[][];
}

/* The part of struct coverage that the page shows (docs/notes/figures.md). */
interface Coverage {
	undecidable: { allocations: number };
}

export interface Data {
	version: number;
	title: string;
	command: string;
	filters: string;
	cost: Cost;
	icicle: boolean;
	estimated: boolean;
	coverage: Coverage;
	folded: number;
	part: number;
	libraries: string[];
	strings: string[];
	frames: number[];
	nodes: { depth: number[]; frame: number[] } &
		Record<Plain, number[]> & Partial<Record<Column, number[]>>;
	timeline?: Timeline;
	tracks?: Tracks;
	diff?: { before: string; after: string };	/* labels of the two
							 * sides */
}

const FRAME = 6;	/* numbers per frame */
const INLINED = 1, GLUE = 2, STOP = 4;
const COLOURS = 10;

/* Children of node n, largest first: list[first[n]] … list[first[n + 1] - 1].
 * `start`: the sum of everything left of a node. */
interface Order {
	first: Uint32Array;
	list: Uint32Array;
	start: Float64Array;
}

export class Tree {
	readonly data: Data;
	readonly count: number;
	readonly parent: Uint32Array;
	readonly end: Uint32Array;
	private readonly orders = new Map<Column, Order>();

	constructor(data: Data) {
		const depth = data.nodes.depth;
		const path: number[] = [];

		this.data = data;
		this.count = depth.length;
		this.parent = new Uint32Array(this.count);
		this.end = new Uint32Array(this.count).fill(this.count);
		for (let n = 0; n < this.count; n++) {
			while (path.length > depth[n])
				this.end[path.pop() as number] = n;
			this.parent[n] = path.length ?
				path[path.length - 1] : 0;
			path.push(n);
		}
		if (data.diff)
			this.enlarge();
	}

	/* The larger side of each stack (flame.h, I3). */
	private enlarge(): void {
		const { nodes } = this.data;

		for (const cost of COSTS) {
			const before = nodes[`before_${cost}`] ?? [];
			const change = nodes[`change_${cost}`] ?? [];

			nodes[`larger_${cost}`] = nodes[cost].map((after, n) =>
				(after + before[n] + change[n]) / 2);
		}
	}

	get compares(): boolean {
		return this.data.diff !== undefined;
	}

	/* 0 for columns that only a diff has. */
	value(column: Column, n: number): number {
		return this.data.nodes[column]?.[n] ?? 0;
	}

	/* After minus before. */
	difference(column: Plain, n: number): number {
		return this.value(column, n) -
			this.value(`before_${column}`, n);
	}

	/* The column for the width of boxes. */
	width(cost: Cost, widths: Widths): Column {
		return this.compares ? `${widths}_${cost}` : cost;
	}

	depth(n: number): number {
		return this.data.nodes.depth[n];
	}

	/* The self value: without its children's. */
	own(column: Column, n: number): number {
		const { first, list } = this.order("total");
		let own = this.value(column, n);

		for (let i = first[n]; i < first[n + 1]; i++)
			own -= this.value(column, list[i]);
		return own;
	}

	order(column: Column): Order {
		const known = this.orders.get(column) ?? this.arrange(column);

		this.orders.set(column, known);
		return known;
	}

	private arrange(column: Column): Order {
		const values = Float64Array.from({ length: this.count },
			(_, n) => this.value(column, n));
		const frame = this.data.nodes.frame;
		const { parent, count } = this;
		const first = new Uint32Array(count + 1);
		const list = Uint32Array.from({ length: count - 1 },
					      (_, i) => i + 1);
		const start = new Float64Array(count);
		const next = new Float64Array(count);

		list.sort((a, b) => parent[a] - parent[b] ||
			Number(frame[a] < 0) - Number(frame[b] < 0) ||
			values[b] - values[a] || a - b);
		for (const n of list) {
			const around = parent[n];

			start[n] = next[n] = next[around];
			next[around] += values[n];
			first[around + 1]++;
		}
		for (let n = 0; n < count; n++)
			first[n + 1] += first[n];
		return { first, list, start };
	}

	isAround(outer: number, inner: number): boolean {
		return outer <= inner && inner < this.end[outer];
	}

	/* Live bytes of a node at the ends of spans; undefined: the node is too
	 * small to have a track. */
	overTime(n: number): number[] | undefined {
		const tracks = this.data.tracks;
		const sum: number[] = [];

		if (!tracks || !tracks.nodes.includes(n))
			return undefined;
		tracks.nodes.forEach((node, i) => {
			let live = 0;

			if (this.isAround(n, node))
				tracks.live[i].forEach((more, row) => {
					live += more;
					sum[row] = (sum[row] ?? 0) + live;
				});
		});
		return sum;
	}

	/* ---- the function of a node ---- */

	isFolded(n: number): boolean {
		return n > 0 && this.data.nodes.frame[n] < 0;
	}

	private frame(n: number, what: number): number {
		const frame = this.data.nodes.frame[n];

		return frame < 0 ? 0 : this.data.frames[frame * FRAME + what];
	}

	name(n: number): string {
		const frame = this.data.nodes.frame[n];

		if (frame >= 0)
			return this.data.strings[this.frame(n, 0)];
		return n === 0 ? "all" :
			`(${quantity.count(-1 - frame)} smaller)`;
	}

	/* file:line:column, as far as known. */
	place(n: number): string {
		const file = this.data.strings[this.frame(n, 1)];
		const line = this.frame(n, 2), column = this.frame(n, 3);

		return !file || !line ? file : column ?
			`${file}:${line}:${column}` : `${file}:${line}`;
	}

	library(n: number): string {
		return this.data.libraries[this.frame(n, 4)];
	}

	isInlined(n: number): boolean {
		return (this.frame(n, 5) & INLINED) !== 0;
	}

	/* A class in flame_colours.css. */
	change(cost: Cost, n: number): string {
		const after = this.value(cost, n);
		const before = this.value(`before_${cost}`, n);
		const smaller = Math.min(after, before);
		const part = 1 - smaller / Math.max(after, before, 1);

		return after === before ? "same" :
			(after > before ? "more" : "less") +
			(smaller === 0 ? 4 : part > .5 ? 3 : part > .1 ? 2 : 1);
	}

	colour(n: number): string {
		const flags = this.frame(n, 5);

		if (this.data.nodes.frame[n] < 0)
			return n === 0 ? "root" : "rest";
		if (flags & STOP)
			return "stop";
		return flags & GLUE ? "glue" : this.libraryColour(n);
	}

	private libraryColour(n: number): string {
		const library = this.frame(n, 4);

		return `l${library ? 1 + (library - 1) % COLOURS : 0}`;
	}

	/* Libraries with a box of their colour, most boxes first. */
	coloured(): [string, string][] {
		const seen = new Set<number>();

		for (let n = 1; n < this.count; n++)
			if (/^l\d/.test(this.colour(n)))
				seen.add(this.frame(n, 4));
		return this.data.libraries.map((name, i): [string, string] =>
			[`l${i ? 1 + (i - 1) % COLOURS : 0}`, name])
			.filter((_, i) => i > 0 && seen.has(i));
	}

	/* Three shades distinguish functions of one colour. */
	shade(n: number): number {
		const flags = this.frame(n, 5);

		return this.data.nodes.frame[n] < 0 || flags & (GLUE | STOP) ?
			0 : this.frame(n, 0) * 7 % 3;
	}
}

/* A difference: "+1.5M", "−3". */
export function signed(column: Plain, value: number): string {
	return (value > 0 ? "+" : value < 0 ? "−" : "±") +
		briefly(column, Math.abs(value));
}

export function briefly(column: Column, value: number): string {
	return isBytes(column) ? quantity.size(value) : quantity.count(value);
}

export function isBytes(column: Column): boolean {
	return column === "live" || column === "peak" || column === "total";
}

export function tree(): Tree {
	const text = document.getElementById("data")?.textContent ?? "";

	return new Tree(JSON.parse(text) as Data);
}
