/*
 * Live memory over time as a small area chart, with the share of the selected
 * box if it has a track, and bars for allocated bytes. The mouse or the arrow
 * keys show the values of a moment.
 */
import { State } from "./flame_state";
import { fitName } from "./names";
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
	let share: number[] | undefined;	/* live bytes of the selected
						 * box */
	let selected = 0;

	if (!given || !given.live.some((bytes) => bytes > 0))
		return;
	const data = given;
	const max = Math.max(...data.live);
	const busiest = Math.max(...data.allocated, 1);
	/* The end of the recording; the last span may exceed it. */
	const end_ns = Math.max(data.end_ns, data.start_ns + 1);
	/* After the last span nothing changes: one more span covers the
	 * remaining time. */
	const spans = data.live.length;
	const rest_ns = data.start_ns + spans * data.width_ns;

	function place(wide: number, ns: number): number {
		return Math.min(ns / end_ns, 1) * wide;
	}

	/* Start of span `i`. */
	function begin(i: number): number {
		return data.start_ns + i * data.width_ns;
	}

	function area(wide: number, values: number[], width_ns: number,
		      last: number, colour: string): void {
		const from = place(wide, data.start_ns);

		paint.beginPath();
		paint.moveTo(from, HEIGHT);
		[...values, last].forEach((bytes, i) => {
			const y = HEIGHT - bytes / max * (HEIGHT - 4);
			const ns = data.start_ns + i * width_ns;

			paint.lineTo(place(wide, ns), y);
			paint.lineTo(i < values.length ?
				place(wide, ns + width_ns) : wide, y);
		});
		paint.lineTo(wide, HEIGHT);
		paint.fillStyle = style(colour);
		paint.fill();
	}

	function stepEnd(i: number): number {
		return i < spans ? Math.min(begin(i + 1), end_ns) : end_ns;
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
		area(wide, data.live, data.width_ns, data.live_end, "--area");
		if (share && tree.data.tracks && selected !== 0)
			area(wide, share, tree.data.tracks.width_ns,
			     share[share.length - 1], "--accent");
		paint.fillStyle = style("--bars");
		data.allocated.forEach((bytes, i) => {
			const high = bytes / busiest * (HEIGHT / 3);

			const from = place(wide, begin(i));

			paint.fillRect(from, HEIGHT - high, Math.max(
				place(wide, begin(i + 1)) - from - .5, .5),
				       high);
		});
		line(place(wide, data.peak_ns), style("--peak"));
		if (at >= 0)
			line((place(wide, begin(at)) +
			      place(wide, stepEnd(at))) / 2, style("--text"));
	}

	function say(): void {
		const live = at < spans ? data.live[at] : data.live_end;

		caption.textContent = at < 0 ?
			`live bytes over ${quantity.time(end_ns)}, at ` +
			`most ${quantity.size(max)}; line: the peak of the ` +
			`program, after ${quantity.time(data.peak_ns)}; ` +
			`bars: allocated${ofSelected()}` :
			`${quantity.time(begin(at))} – ` +
			`${quantity.time(stepEnd(at))}: ` +
			`${quantity.size(live)} live, ` +
			`${quantity.size(data.allocated[at] ?? 0)} allocated` +
			ofSelected();
	}

	/* The selected box, at the pointed moment or in general. */
	function ofSelected(): string {
		const name = fitName(tree.name(selected), 40);
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
		const last = rest_ns < end_ns ? spans : spans - 1;

		at = Math.max(-1, Math.min(last, to));
		say();
		draw();
	}

	canvas.tabIndex = 0;
	canvas.addEventListener("mousemove", (event) => {
		const ns = event.offsetX / canvas.clientWidth * end_ns;

		go(ns < data.start_ns ? -1 : Math.floor(
			(ns - data.start_ns) / (data.width_ns || 1)));
	});
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
