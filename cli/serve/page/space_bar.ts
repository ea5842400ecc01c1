/*
 * One range of addresses as a bar. Ctrl and the wheel go into it, the wheel
 * sideways goes along, a double click shows all of it again; what is dragged over
 * is told.
 *
 *	space  |..####...#.........##########......|
 *	view            |#.........####|		zoomed, drawn as wide
 *
 * Runs ascend: those in sight are found by halving, so that a frame costs what it
 * shows.
 */
import type { Run, Space } from "./address_space";
import { h } from "./dom";

const HIGH = 22;
const FACTOR = 1.2;		/* of a step of the wheel */
const STEP = 100;		/* what browsers call one */
const LEAST_PAGES = 8;		/* in sight */

export const hex = (address: number) =>
	`0x${Math.round(address).toString(16)}`;

/* The first run that ends behind the address. */
function firstRun(runs: Run[], address: number): number {
	let low = 0, high = runs.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		const run = runs[middle];

		if (run.address + run.bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How much of each of `wide` points is live, 0 … 1: a point may be many pages, or
 * a part of one. */
export function density(runs: Run[], from: number, to: number, wide: number):
		Float64Array {
	const scale = wide / (to - from);
	const live = new Float64Array(Math.ceil(wide));

	for (let i = firstRun(runs, from); i < runs.length; i++) {
		const run = runs[i];
		const left = Math.max(0, (run.address - from) * scale);
		const right = (run.address + run.bytes - from) * scale;

		if (run.address >= to)
			break;
		for (let x = Math.floor(left); x < right && x < live.length; x++)
			live[x] += run.live / run.bytes *
				(Math.min(x + 1, right) - Math.max(x, left));
	}
	return live;
}

export class SpaceBar {
	readonly canvas = h("canvas", { class: "space-bar" });
	private readonly paint: CanvasRenderingContext2D;
	private from: number;
	private to: number;
	private asked = 0;
	private start: number | null = null;

	constructor(private readonly space: Space, private readonly wide: number,
		    private readonly page: number,
		    private readonly brush: (from: number, to: number) => void) {
		const { canvas } = this;
		const ratio = devicePixelRatio || 1;

		this.from = space.from;
		this.to = space.to;
		this.paint = canvas.getContext("2d") as CanvasRenderingContext2D;
		canvas.width = Math.ceil(wide * ratio);
		canvas.height = HIGH * ratio;
		canvas.style.width = `${wide}px`;
		canvas.style.height = `${HIGH}px`;
		this.paint.setTransform(ratio, 0, 0, ratio, 0, 0);
		canvas.addEventListener("wheel", (event) => this.wheel(event),
					{ passive: false });
		canvas.addEventListener("dblclick", () =>
			this.show(space.from, space.to));
		this.pulling();
		this.draw();
	}

	private at(event: MouseEvent): number {
		const box = this.canvas.getBoundingClientRect();
		const part = (event.clientX - box.left) / box.width;

		return this.from + Math.max(0, Math.min(1, part)) *
			(this.to - this.from);
	}

	/* As much of it as there is. */
	private show(from: number, to: number): void {
		const { space, page } = this;
		const length = Math.min(space.to - space.from,
					Math.max(to - from, LEAST_PAGES * page));

		this.from = Math.max(space.from,
				     Math.min(from, space.to - length));
		this.to = this.from + length;
		cancelAnimationFrame(this.asked);
		this.asked = requestAnimationFrame(() => this.draw());
	}

	private wheel(event: WheelEvent): void {
		const length = this.to - this.from;
		const along = event.deltaX / this.wide * length;

		if (event.ctrlKey) {
			const factor = FACTOR ** (event.deltaY / STEP);
			const at = this.at(event);

			this.show(at - (at - this.from) * factor,
				  at + (this.to - at) * factor);
		} else if (event.deltaX !== 0 &&
			   length < this.space.to - this.space.from) {
			this.show(this.from + along, this.to + along);
		} else {
			return;		/* the view scrolls */
		}
		event.preventDefault();
	}

	/* What is dragged over, in whole pages. */
	private pulling(): void {
		const { canvas, page } = this;

		canvas.addEventListener("pointerdown", (event) => {
			this.start = event.button === 0 ? this.at(event) : null;
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", (event) => {
			canvas.title = hex(this.at(event));
		});
		canvas.addEventListener("pointerup", (event) => {
			const { start } = this, end = this.at(event);

			this.start = null;
			if (start === null || start === end)
				return;
			this.brush(Math.floor(Math.min(start, end) / page) * page,
				   Math.ceil(Math.max(start, end) / page) *
				   page - 1);
		});
	}

	private draw(): void {
		const { paint, wide, from, to } = this;
		const style = getComputedStyle(document.documentElement);

		paint.globalAlpha = 1;
		paint.fillStyle = style.getPropertyValue("--sunk");
		paint.fillRect(0, 0, wide, HIGH);
		paint.fillStyle = style.getPropertyValue("--k0");
		density(this.space.runs, from, to, wide).forEach((part, x) => {
			if (part === 0)
				return;
			paint.globalAlpha = .18 + .82 * Math.min(1, part);
			paint.fillRect(x, 0, 1, HIGH);
		});
	}
}
