/*
 * Pages with live blocks, to scale: a bar for each range of addresses, as wide as
 * it is long; the darker, the more of a page is live. What is dragged over becomes
 * a filter of addresses, and so the picture of what is in it.
 */
import * as quantity from "../../page/quantity";
import { Cell } from "./answers";
import { h } from "./dom";
import { SpaceBar, hex } from "./space_bar";

const GAP_BYTES = 1 << 20;	/* what is further apart is another range */
const ROWS = 16;

export interface Run {
	address: number;
	bytes: number;		/* of its pages */
	live: number;		/* on all of them */
	mapping: string;
}

export interface Space {
	from: number;
	to: number;
	runs: Run[];
	live: number;
	bytes: number;
}

export function runsOf(rows: Record<string, Cell>[]): Run[] {
	return rows.map((row) => ({ address: Number(row.address),
		bytes: Number(row.pages) * Number(row.page_size),
		live: Number(row.pages) * Number(row.live_bytes),
		mapping: String(row.mapping ?? "") }));
}

/* Ranges without large holes, the longest first. */
export function spaces(runs: Run[]): Space[] {
	const all: Space[] = [];

	for (const run of runs) {
		const last = all[all.length - 1];

		if (last && run.address - last.to < GAP_BYTES) {
			last.to = run.address + run.bytes;
			last.runs.push(run);
			last.live += run.live;
			last.bytes += run.bytes;
		} else {
			all.push({ from: run.address, runs: [run],
				   to: run.address + run.bytes,
				   live: run.live, bytes: run.bytes });
		}
	}
	return all.sort((a, b) => (b.to - b.from) - (a.to - a.from));
}

export function picture(all: Space[], wide: number, page: number,
			brush: (from: number, to: number) => void): HTMLElement {
	const longest = all[0].to - all[0].from;
	const shown = all.slice(0, ROWS);

	return h("div", { class: "spaces" }, ...shown.map((space) => {
		const length = space.to - space.from;
		const { canvas } = new SpaceBar(space,
			Math.max(3, length / longest * wide), page, brush);

		return h("div", { class: "space" }, h("p", {},
			h("code", {}, hex(space.from)), ` ${quantity.size(
				length)}, ${space.runs[0].mapping ||
				"of no file"}: ${quantity.size(space.bytes)} ` +
			"of pages with live blocks, ", h("b", {},
			quantity.percent(space.live, space.bytes)),
			" of which is live"), canvas);
	}), all.length > shown.length && h("p", { class: "quiet" },
		`${quantity.count(all.length - shown.length)} smaller ranges ` +
		"are not drawn."));
}
