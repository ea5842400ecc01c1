/*
 * A bar for each space, as wide as it is long. Dragging sets a filter; a click
 * or Enter zooms in.
 */
import * as quantity from "../../page/quantity";
import { Memory, Range, Space, hex } from "./address_space";
import { h } from "./dom";
import { paintRange } from "./space_paint";

const ROWS = 16;
const HIGH = 22;
const NEAR = 3;			/* points: minimum drag */

export interface BarActs {
	filter(from: number, to: number): void;
	look(range: Range): void;
}

function listen(canvas: HTMLElement, space: Space, page: number,
		acts: BarActs): void {
	const length = space.to - space.from;
	let start: number | null = null;
	const part = (event: PointerEvent) => {
		const box = canvas.getBoundingClientRect();

		return Math.max(0, Math.min(1, (event.clientX - box.left) /
			box.width));
	};
	const at = (share: number) => space.from + share * length;

	canvas.addEventListener("pointerdown", (event) => {
		start = event.button === 0 ? part(event) : null;
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		canvas.title = hex(at(part(event)));
	});
	canvas.addEventListener("pointercancel", () => {
		start = null;
	});
	canvas.addEventListener("pointerup", (event) => {
		const end = part(event), begin = start;
		const wide = canvas.getBoundingClientRect().width;

		start = null;
		if (begin === null)
			return;
		if (Math.abs(end - begin) * wide < NEAR) {
			acts.look({ from: at(end - 1 / 16), to: at(end + 1 / 16) });
			return;
		}
		acts.filter(Math.floor(at(Math.min(begin, end)) / page) * page,
			    Math.ceil(at(Math.max(begin, end)) / page) * page - 1);
	});
	canvas.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" && event.key !== " ")
			return;
		event.preventDefault();
		acts.look(space);
	});
}

export function bars(memory: Memory, all: Space[], wide: number,
		     acts: BarActs): HTMLElement {
	const longest = all[0].to - all[0].from;
	const shown = all.slice(0, ROWS);

	return h("div", { class: "spaces" }, ...shown.map((space) => {
		const length = space.to - space.from;
		const canvas = h("canvas", { class: "space-bar", tabindex: 0,
			role: "button", "aria-label": `Look into ${space.name} ` +
			`at ${hex(space.from)}` });

		paintRange(canvas, memory, space,
			   [Math.max(3, length / longest * wide), HIGH]);
		listen(canvas, space, memory.page, acts);
		return h("div", { class: "space" }, h("p", {},
			h("code", {}, hex(space.from)), ` ${quantity.size(
				length)}, ${space.name}: ${quantity.size(
				space.bytes)} of pages with live blocks, `,
			h("b", {}, quantity.percent(space.live, space.bytes)),
			" of which is live"), canvas);
	}), all.length > shown.length && h("p", { class: "quiet" },
		`${quantity.count(all.length - shown.length)} smaller ranges ` +
		"are not drawn."));
}
