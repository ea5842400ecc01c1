/*
 * Paints a range of addresses to scale: blue what live blocks take, the darker the
 * more of a page; orange what else is on those pages, which they keep; light blue
 * what else the allocator has; grey other mappings; and
 * hatched what is not mapped, or not known to be. Where a page is some points
 * wide, it has edges; and blocks, where they are known, are painted one by one.
 */
import { Memory, Range, Run, within } from "./address_space";

export interface Block extends Range {
	name: string;
}

const PAGE_POINTS = 6;		/* so wide is a page that has edges */
const FAINT = .1;		/* the least that is live is seen, */
const KEPT = .7;		/* and so are single pages that it keeps */

function hatch(paint: CanvasRenderingContext2D, wide: number, high: number,
	       colour: string): void {
	paint.strokeStyle = colour;
	paint.lineWidth = 1;
	paint.beginPath();
	for (let x = -high; x < wide; x += 6) {
		paint.moveTo(x, high);
		paint.lineTo(x + high, 0);
	}
	paint.stroke();
}

/* How much of each point of the picture is of some kind. */
function shares({ runs }: Memory, range: Range, wide: number,
		bytes: (run: Run) => number): Float64Array {
	const scale = wide / (range.to - range.from);
	const live = new Float64Array(Math.ceil(wide));

	for (const run of within(runs, range)) {
		const from = (run.from - range.from) * scale;
		const to = Math.max((run.to - range.from) * scale, from + .01);
		const length = run.to - run.from;
		const first = Math.max(0, Math.floor(from));

		for (let x = first; x < to && x < live.length; x++)
			live[x] += bytes(run) / length *
				(Math.min(x + 1, to) - Math.max(x, from));
	}
	return live;
}

export function paintRange(canvas: HTMLCanvasElement, memory: Memory,
			   range: Range, size: [number, number],
			   blocks: Block[] = []): void {
	const [wide, high] = size;
	const ratio = devicePixelRatio || 1;
	const paint = canvas.getContext("2d") as CanvasRenderingContext2D;
	const style = getComputedStyle(document.documentElement);
	const colour = (name: string) => style.getPropertyValue(name);
	const scale = wide / (range.to - range.from);
	const x = (address: number) => (address - range.from) * scale;
	const box = (one: Range, top: number, tall: number) =>
		paint.fillRect(x(one.from), top, Math.max(1, (one.to -
			one.from) * scale), tall);

	canvas.width = Math.ceil(wide * ratio);
	canvas.height = Math.ceil(high * ratio);
	canvas.style.width = `${wide}px`;
	canvas.style.height = `${high}px`;
	paint.setTransform(ratio, 0, 0, ratio, 0, 0);
	paint.fillStyle = colour("--ground");
	paint.fillRect(0, 0, wide, high);
	hatch(paint, wide, high, colour("--line"));
	for (const mapping of within(memory.mappings, range)) {
		paint.fillStyle = colour(mapping.allocator ? "--free" : "--other");
		box(mapping, 0, high);
	}
	/* Pages with live blocks are the allocator's, whoever mapped them; runs
	 * that were joined have others between. */
	paint.fillStyle = colour("--free");
	for (const run of within(memory.runs, range))
		box(run, 0, high);
	const tint = (name: string, least: number,
		      bytes: (run: Run) => number) => {
		paint.fillStyle = colour(name);
		shares(memory, range, wide, bytes).forEach((part, at) => {
			if (part <= 0)
				return;
			paint.globalAlpha = least + (1 - least) *
				Math.min(1, part);
			paint.fillRect(at, 0, 1, high);
		});
		paint.globalAlpha = 1;
	};
	tint("--kept", KEPT, ({ bytes }) => bytes);
	if (blocks.length === 0)
		tint("--k0", FAINT, ({ live }) => live);
	if (memory.page * scale >= PAGE_POINTS) {
		paint.fillStyle = colour("--quiet");
		for (let page = Math.ceil(range.from / memory.page);
		     page * memory.page < range.to; page++)
			paint.fillRect(Math.round(x(page * memory.page)), 0, 1,
				       high);
	}
	if (blocks.length === 0)
		return;
	paint.strokeStyle = colour("--ground");
	for (const block of within(blocks, range)) {
		paint.fillStyle = colour("--k0");
		box(block, 0, high);
		if ((block.to - block.from) * scale > 4)
			paint.strokeRect(x(block.from), 0, (block.to -
				block.from) * scale, high);
	}
}
