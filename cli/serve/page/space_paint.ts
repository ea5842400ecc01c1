/*
 * Paints a range of addresses to scale. Blue: live blocks, darker the more of a
 * page is live. Orange: other memory on these pages, which live blocks keep.
 * Light blue: other memory of the allocator. Grey: other mappings. Hatched: not
 * mapped, or unknown. Pages have edges if they are wide enough, and known
 * blocks are painted individually.
 */
import { Memory, Range, Run, within } from "./address_space";

export interface Block extends Range {
	name: string;
}

const PAGE_POINTS = 6;		/* minimum width of a page with edges */
const FAINT = .1;		/* minimum opacity of live memory */
const KEPT = .7;		/* minimum opacity of kept pages */

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

/* The share of a kind of memory in each point of the picture. */
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
	/* Pages with live blocks belong to the allocator, whoever mapped them;
	 * merged runs have other pages in between. */
	paint.fillStyle = colour("--free");
	for (const run of within(memory.runs, range))
		box(run, 0, high);
	const tint = (name: string, min: number,
		      bytes: (run: Run) => number) => {
		paint.fillStyle = colour(name);
		shares(memory, range, wide, bytes).forEach((part, at) => {
			if (part <= 0)
				return;
			paint.globalAlpha = min + (1 - min) *
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
