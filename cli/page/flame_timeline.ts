/*
 * What was live, over the time of the recording, as a small area; in it, what
 * was live of the selected box, if it is large enough to have been followed;
 * what was allocated meanwhile, as bars. The mouse, or the arrow keys, tell the
 * figures of a moment.
 */
import { State } from "./flame_state";
import { fitting } from "./names";
import * as quantity from "./quantity";

const HEIGHT = 56;

function style(name: string): string {
	return getComputedStyle(document.documentElement)
		.getPropertyValue(name).trim();
}

export function timeline(figure: HTMLElement, state: State): void {
	const { tree } = state;
	const given = tree.data.timeline;
	const canvas = figure.querySelector("canvas") as HTMLCanvasElement;
	const caption = figure.querySelector("figcaption") as HTMLElement;
	const paint = canvas.getContext("2d") as CanvasRenderingContext2D;
	let at = -1;
	let share: number[] | undefined;	/* of the selected box */
	let selected = 0;

	if (!given || !given.live.some((bytes) => bytes > 0))
		return;
	const data = given;
	const most = Math.max(...data.live);
	const busiest = Math.max(...data.allocated, 1);
	/* the last span may reach beyond the end */
	const spans = Math.min(data.live.length, data.width_ns > 0 ?
		data.end_ns / data.width_ns || 1 : 1);

	function area(wide: number, values: number[], width_ns: number,
		      colour: string): void {
		const each = wide * (width_ns / data.end_ns || 1);

		paint.beginPath();
		paint.moveTo(0, HEIGHT);
		values.forEach((bytes, i) => {
			const y = HEIGHT - bytes / most * (HEIGHT - 4);

			paint.lineTo(i * each, y);
			paint.lineTo((i + 1) * each, y);
		});
		paint.lineTo(values.length * each, HEIGHT);
		paint.fillStyle = style(colour);
		paint.fill();
	}

	function line(x: number, colour: string): void {
		paint.fillStyle = colour;
		paint.fillRect(Math.round(x), 0, 1, HEIGHT);
	}

	function draw(): void {
		const wide = canvas.clientWidth;
		const scale = devicePixelRatio || 1;

		canvas.width = Math.round(wide * scale);
		canvas.height = Math.round(HEIGHT * scale);
		paint.setTransform(scale, 0, 0, scale, 0, 0);
		area(wide, data.live, data.width_ns, "--area");
		if (share && tree.data.tracks && selected !== 0)
			area(wide, share, tree.data.tracks.width_ns,
			     "--accent");
		paint.fillStyle = style("--bars");
		data.allocated.forEach((bytes, i) => {
			const high = bytes / busiest * (HEIGHT / 3);

			paint.fillRect(i / spans * wide, HEIGHT - high,
				       Math.max(wide / spans - .5, .5), high);
		});
		if (data.end_ns > 0)
			line(data.peak_ns / data.end_ns * wide,
			     style("--peak"));
		if (at >= 0)
			line((at + .5) / spans * wide, style("--text"));
	}

	function say(): void {
		const begin = at * data.width_ns;
		const end = Math.min(begin + data.width_ns, data.end_ns);

		caption.textContent = at < 0 ?
			`live bytes over ${quantity.time(data.end_ns)}, at ` +
			`most ${quantity.size(most)}; line: the peak of the ` +
			`program, after ${quantity.time(data.peak_ns)}; ` +
			`bars: allocated${ofSelected()}` :
			`${quantity.time(begin)} – ${quantity.time(end)}: ` +
			`${quantity.size(data.live[at])} live, ` +
			`${quantity.size(data.allocated[at])} allocated` +
			ofSelected();
	}

	/* The selected box: at the moment that is pointed to, or at all. */
	function ofSelected(): string {
		const name = fitting(tree.name(selected), 40);
		const tracks = tree.data.tracks;

		if (selected === 0 || !tracks)
			return "";
		if (!share)
			return `; ${name} is too small to be followed`;
		if (at < 0)
			return `; strong area: ${name}`;
		const row = Math.min(share.length - 1, Math.floor(
			(at + .5) * data.width_ns / tracks.width_ns));
		const all = tree.overTime(0) ?? [];

		return `; at its end ${quantity.size(share[row])}, ` +
			`${quantity.percent(share[row], all[row])} of it in ` +
			name;
	}

	function select(): void {
		if (state.selected === selected)
			return;
		selected = state.selected;
		share = tree.overTime(selected);
		say();
		draw();
	}

	function go(to: number): void {
		at = Math.max(-1, Math.min(data.live.length - 1, to));
		say();
		draw();
	}

	canvas.tabIndex = 0;
	canvas.addEventListener("mousemove", (event) =>
		go(Math.floor(event.offsetX / canvas.clientWidth * spans)));
	canvas.addEventListener("mouseleave", () => go(-1));
	canvas.addEventListener("keydown", (event) => {
		if (event.key === "ArrowRight")
			go(at + 1);
		else if (event.key === "ArrowLeft")
			go(at - 1);
	});
	figure.hidden = false;
	state.listen(select);
	new ResizeObserver(draw).observe(canvas);
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", draw);
	say();
	draw();
}
