/*
 * Pages with live blocks, to scale: a bar for each range of addresses, as wide as
 * it is long; the darker, the more of a page is live. What is dragged over becomes
 * a filter of addresses, and so the picture of what is in it.
 */
import * as quantity from "../../page/quantity";
import { Cell } from "./answers";
import { h } from "./dom";

const GAP_BYTES = 1 << 20;	/* what is further apart is another range */
const ROWS = 16;
const HIGH = 22;

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

const hex = (address: number) => `0x${Math.round(address).toString(16)}`;

function bar(space: Space, wide: number): HTMLCanvasElement {
	const canvas = h("canvas", { class: "space-bar" });
	const ratio = devicePixelRatio || 1;
	const paint = canvas.getContext("2d") as CanvasRenderingContext2D;
	const style = getComputedStyle(document.documentElement);
	const scale = wide / (space.to - space.from);
	const live = new Float64Array(Math.ceil(wide));

	canvas.width = Math.ceil(wide * ratio);
	canvas.height = HIGH * ratio;
	canvas.style.width = `${wide}px`;
	canvas.style.height = `${HIGH}px`;
	paint.setTransform(ratio, 0, 0, ratio, 0, 0);
	paint.fillStyle = style.getPropertyValue("--sunk");
	paint.fillRect(0, 0, wide, HIGH);
	/* A point of the picture may be many pages, or a part of one. */
	for (const run of space.runs) {
		const from = (run.address - space.from) * scale;
		const to = from + run.bytes * scale;

		for (let x = Math.floor(from); x < to && x < live.length; x++)
			live[x] += run.live / run.bytes *
				(Math.min(x + 1, to) - Math.max(x, from));
	}
	paint.fillStyle = style.getPropertyValue("--k0");
	live.forEach((part, x) => {
		if (part === 0)
			return;
		paint.globalAlpha = .18 + .82 * Math.min(1, part);
		paint.fillRect(x, 0, 1, HIGH);
	});
	return canvas;
}

/* Drags over a bar: of addresses in whole pages. */
function brushing(canvas: HTMLElement, space: Space, page: number,
		  brush: (from: number, to: number) => void): void {
	let start: number | null = null;
	const at = (event: PointerEvent) => {
		const box = canvas.getBoundingClientRect();
		const part = (event.clientX - box.left) / box.width;

		return space.from + Math.max(0, Math.min(1, part)) *
			(space.to - space.from);
	};

	canvas.addEventListener("pointerdown", (event) => {
		start = event.button === 0 ? at(event) : null;
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		canvas.title = hex(at(event));
	});
	canvas.addEventListener("pointerup", (event) => {
		const end = at(event);

		if (start === null || start === end)
			return;
		brush(Math.floor(Math.min(start, end) / page) * page,
		      Math.ceil(Math.max(start, end) / page) * page - 1);
		start = null;
	});
}

export function picture(all: Space[], wide: number, page: number,
			brush: (from: number, to: number) => void): HTMLElement {
	const longest = all[0].to - all[0].from;
	const shown = all.slice(0, ROWS);

	return h("div", { class: "spaces" }, ...shown.map((space) => {
		const length = space.to - space.from;
		const canvas = bar(space, Math.max(3, length / longest * wide));

		brushing(canvas, space, page, brush);
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
