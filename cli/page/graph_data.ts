/*
 * The series that cli/graph/graph_list.c wrote into the page (the same as
 * --format json).
 */
import * as quantity from "./quantity";

export const COSTS = ["live", "peak", "total", "count", "temporary"] as const;
export type Cost = typeof COSTS[number];

const FIGURES = {
	live: "live_bytes", peak: "live_bytes_max", total: "allocated_bytes",
	count: "allocations", temporary: "temporary",
} as const;
type Figure = typeof FIGURES[Cost];

/* Values of the steps from `from` on. */
export type Series = {
	name: string;
	kind: "row" | "others" | "trace" | "all";
	from: number;
} & Record<Figure, number[]>;

interface Data {
	title: string;
	about: string;
	cost: Cost;
	adds_up: boolean;	/* except peaks */
	stacked: boolean;
	steps: number;
	end_ns: number;
	series: Series[];
	all?: Series;
}

/* Same as graph_meaning in cli/graph/graph_gather.c. */
export const MEANINGS = {
	live: "bytes live", peak: "bytes live, at most",
	total: "bytes allocated", count: "allocations",
	temporary: "temporary blocks freed",
} as const;

const COLOURS = 10, SHADES = 3;

export function read(): Data {
	const text = document.getElementById("data")?.textContent ?? "";

	return JSON.parse(text) as Data;
}

export function values(series: Series, cost: Cost): number[] {
	return series[FIGURES[cost]];
}

/* 0 outside the series. */
export function valueAt(series: Series, cost: Cost, step: number): number {
	return values(series, cost)[step - series.from] ?? 0;
}

export function max(series: Series, cost: Cost): number {
	return values(series, cost).reduce((a, b) => Math.max(a, b), 0);
}

/* A class in graph_colours.css. */
export function colour(series: Series, number: number): [string, number] {
	return series.kind === "others" ? ["s0", 0] :
		[`s${1 + number % COLOURS}`,
		 Math.floor(number / COLOURS) % SHADES];
}

export function isBytes(cost: Cost): boolean {
	return cost !== "count" && cost !== "temporary";
}

export function briefly(cost: Cost, value: number): string {
	return isBytes(cost) ? quantity.size(value) : quantity.count(value);
}
