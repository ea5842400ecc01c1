/*
 * Timelines one above the other, with one time axis. A line under the mouse
 * shows the values of a moment in all of them; brushing sets a filter. By keys:
 * arrows move the line, with Shift they brush.
 *
 *	title, values here        |▁▂▅▇▇▇▅▂▁|    a lane for each
 *	                          |  [brush] |
 */
import { svg } from "./dom";
import * as axis from "./axis";
import { h } from "./dom";

export interface Series {
	name: string;
	kind: string;		/* colour class in the style sheet */
	values: ArrayLike<number>;
	line?: boolean;		/* line without area */
}

export interface Lane {
	title: string;
	unit: axis.Unit;
	series: Series[];
	stacked?: boolean;
}

export interface Mark {
	time_ns: number;
	name: string;
	kind: string;
}

export interface Times {
	begin: number[];	/* start of each step */
	end_ns: number;
}

export interface Acts {
	brush(from_ns: number, to_ns: number): void;
	clear(): void;
	menu(event: MouseEvent, at_ns: number): void;
}

const GAP = 8, AXIS = 20;
const NEAR = 5;			/* points around an edge in which it can be
				 * dragged */

type Range = [number, number] | null;

export class Timeline {
	readonly element: HTMLElement;
	chart = svg("svg", {});
	private readonly over = svg("g", {});
	private lanes: Lane[] = [];
	private marks: Mark[] = [];
	private times: Times = { begin: [0], end_ns: 1 };
	private range: Range = null;
	private pulled: Range = null;
	private pull: ((ns: number) => Range) | null = null;
	private at = -1;		/* index of a step */
	private watching = false;
	private wide = 600;
	private readonly figures: HTMLElement[][] = [];

	constructor(private readonly high: number, private readonly label: string,
		    private readonly acts: Acts, private readonly slim = false) {
		this.element = h("div", { class: slim ? "timeline slim" :
			"timeline" });
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	show(times: Times, lanes: Lane[], marks: Mark[], range: Range): void {
		/* A different trace: forget the moment. */
		if (times.end_ns !== this.times.end_ns)
			this.at = -1;
		this.times = times;
		this.lanes = lanes;
		this.marks = marks;
		this.range = range;
		if (this.at >= times.begin.length)
			this.at = -1;
		this.draw();
	}

	setRange(range: Range): void {
		this.range = range;
		this.drawOver();
	}

	private x(ns: number): number {
		return ns / this.times.end_ns * this.wide;
	}

	private ns(x: number): number {
		const ns = Math.round(x / this.wide * this.times.end_ns);

		return Math.max(0, Math.min(this.times.end_ns, ns));
	}

	private top(lane: number): number {
		return lane * (this.high + GAP);
	}

	private bottom(): number {
		return this.top(this.lanes.length) - GAP;
	}

	/* ---- the chart ---- */

	private draw(): void {
		const side = this.slim ? 0 : 190;

		this.wide = Math.max(100, this.element.clientWidth - side);
		if (this.lanes.length === 0)
			return;
		const tall = this.bottom() + (this.slim ? 0 : AXIS);
		const hadFocus = this.chart === document.activeElement;
		this.chart = svg("svg", { class: "lanes", width: this.wide,
			height: tall, tabindex: 0, role: "application",
			"aria-label": `${this.label}: arrow keys move in ` +
			"time, with Shift they select a range" });
		this.lanes.forEach((lane, i) => this.drawLane(lane, i));
		this.drawMarks();
		if (!this.slim)
			this.drawAxis();
		this.chart.append(this.over);
		this.element.replaceChildren(...this.slim ? [] :
			[this.legend()], this.chart);
		this.listen();
		this.drawOver();
		if (hadFocus)
			this.chart.focus({ preventScroll: true });
	}

	private drawLane(lane: Lane, number: number): void {
		const bottom = this.top(number) + this.high;
		const sums = new Float64Array(this.times.begin.length);
		const max = this.max(lane);
		const y = (value: number) => bottom - value / max *
			(this.high - 4);
		const x = (i: number) => this.x(this.times.begin[i] ??
			this.times.end_ns);
		const group = svg("g", {});

		if (!this.slim)
			for (const value of axis.ticks(max, lane.unit, 3))
				group.append(svg("line", { class: "grid",
					x1: 0, x2: this.wide, y1: y(value),
					y2: y(value) }));
		for (const series of lane.series) {
			const low = lane.stacked ? sums.slice() : null;
			const values = Float64Array.from(series.values,
				(value, i) => lane.stacked ?
				sums[i] += value : value);
			const line = axis.stairs(x, values, y);
			const back = low ? axis.stairs(x, low, y) : "";

			group.append(svg("path", { d: line, class:
				`line ${series.kind}` }));
			if (!series.line && !low)
				group.append(svg("path", { class:
					`area ${series.kind}`, d: `${line}V` +
					`${bottom}H${x(0).toFixed(1)}Z` }));
			else if (low)
				group.append(this.band(line, back,
						       series.kind));
		}
		if (!this.slim)
			group.append(...axis.ticks(max, lane.unit, 3).slice(1)
				.map((value) => svg("text", { class: "tick",
					x: 3, y: y(value) - 2 },
					axis.tick(lane.unit, value))));
		this.chart.append(group);
	}

	/* The area between two paths: the lower one is traversed backward,
	 * point by point. */
	private band(line: string, back: string, kind: string): SVGElement {
		const points = back.match(/[MLH][^MLH]*/g) ?? [];
		const corners: string[] = [];
		let y = "0";

		for (const point of points)
			if (point[0] === "H")
				corners.push(`${point.slice(1)} ${y}`);
			else {
				y = point.slice(1).split(" ")[1];
				corners.push(point.slice(1));
			}
		return svg("path", { class: `area ${kind}`, d: line + "L" +
			corners.reverse().join("L") + "Z" });
	}

	private max(lane: Lane): number {
		let max = 0;

		for (let i = 0; i < this.times.begin.length; i++) {
			const all = lane.series.map((one) =>
				one.values[i] ?? 0);
			max = Math.max(max, lane.stacked ?
				all.reduce((a, b) => a + b, 0) :
				Math.max(...all));
		}
		return max || 1;
	}

	private drawMarks(): void {
		const from = new Map<string, number>();

		for (const { time_ns, name, kind } of this.marks) {
			const x = this.x(time_ns);
			const last = from.get(kind) ?? -Infinity;

			this.chart.append(svg("line", { class: `mark ${kind}`,
				x1: x, x2: x, y1: 0, y2: this.bottom() },
				svg("title", {}, name)));
			if (this.slim || x - last < 46 ||
			    x > this.wide - 20)
				continue;
			from.set(kind, x);
			this.chart.append(svg("text", { class: `tick ${kind}`,
				x: x + 3, y: 9 }, name.slice(0, 12)));
		}
	}

	private drawAxis(): void {
		const y = this.bottom();

		for (const ns of axis.times(0, this.times.end_ns)) {
			const x = this.x(ns);

			this.chart.append(svg("line", { class: "axis", x1: x,
				x2: x, y1: y, y2: y + 4 }),
				svg("text", { class: "tick", x, y: y + 15,
					"text-anchor": x < 20 ? "start" :
					x > this.wide - 30 ? "end" : "middle" },
				axis.tell(ns)));
		}
		this.chart.append(svg("line", { class: "axis", x1: 0,
			x2: this.wide, y1: y + .5, y2: y + .5 }));
	}

	private legend(): HTMLElement {
		this.figures.length = 0;
		return h("div", { class: "lane-titles" },
			...this.lanes.map((lane) => {
				const cells = lane.series.map(() =>
					h("b", {}));

				this.figures.push(cells);
				return h("div", { class: "lane-title" },
					h("strong", {}, lane.title),
					...lane.series.map((one, i) =>
						h("span", {}, h("i", { class:
							`swatch ${one.kind}` }),
						one.name, cells[i])));
			}));
	}

	/* ---- cursor and brush ---- */

	private drawOver(): void {
		const range = this.pulled ?? this.range;
		const { begin, end_ns } = this.times;
		const tall = Math.max(1, this.bottom());

		this.over.replaceChildren();
		if (range) {
			const [from, to] = range.map((ns) => this.x(ns));

			this.over.append(
				svg("rect", { class: "shade", x: 0, y: 0,
					width: Math.max(0, from),
					height: tall }),
				svg("rect", { class: "shade", x: to, y: 0,
					width: Math.max(0, this.wide - to),
					height: tall }),
				svg("rect", { class: "brush", x: from, y: .5,
					width: Math.max(1, to - from),
					height: tall - 1 }));
		}
		if (this.at >= 0) {
			const x = (this.x(begin[this.at]) +
				this.x(begin[this.at + 1] ?? end_ns)) / 2;

			this.over.append(svg("line", { class: "cursor", x1: x,
				x2: x, y1: 0, y2: tall }));
		}
		this.tell();
	}

	/* Show the values at the line, or else each maximum. */
	private tell(): void {
		this.figures.forEach((cells, i) => cells.forEach((cell, k) => {
			const { unit, series } = this.lanes[i];
			const { values } = series[k];
			const value = this.at >= 0 ? values[this.at] ?? 0 :
				Array.prototype.reduce.call(values,
					(a, b) => Math.max(Number(a),
							   Number(b)), 0);

			cell.textContent = axis.figure(unit, Number(value));
		}));
	}

	private stepAt(ns: number): number {
		const { begin } = this.times;
		let low = 0, high = begin.length - 1;

		while (low < high) {
			const middle = (low + high + 1) >> 1;

			if (begin[middle] <= ns)
				low = middle;
			else
				high = middle - 1;
		}
		return low;
	}

	private point(at: number): void {
		const last = this.times.begin.length - 1;

		this.at = Math.max(-1, Math.min(last, at));
		this.drawOver();
	}

	/* An element hidden under the mouse gets no leave event: watch the
	 * document. */
	private watch(): void {
		const over = (event: PointerEvent) => {
			if (this.pull || this.chart.contains(event.target as Node))
				return;
			document.removeEventListener("pointermove", over);
			this.watching = false;
			this.point(-1);
		};

		if (this.watching)
			return;
		this.watching = true;
		document.addEventListener("pointermove", over);
	}

	/* ---- mouse and keys ---- */

	private place(event: MouseEvent): number {
		return event.clientX - this.chart.getBoundingClientRect().left;
	}

	private listen(): void {
		const { chart } = this;

		chart.addEventListener("pointermove", (event) =>
			this.move(event));
		chart.addEventListener("pointerleave", () =>
			this.pull || this.point(-1));
		chart.addEventListener("pointerdown", (event) =>
			this.press(event));
		chart.addEventListener("pointerup", (event) =>
			this.release(event));
		chart.addEventListener("pointercancel", () => {
			this.pull = this.pulled = null;
			this.drawOver();
		});
		chart.addEventListener("dblclick", () => this.acts.clear());
		chart.addEventListener("keydown", (event) => this.key(event));
		chart.addEventListener("contextmenu", (event) =>
			this.acts.menu(event, event.clientX ?
				this.ns(this.place(event)) : this.middle()));
	}

	private middle(): number {
		const { begin, end_ns } = this.times;

		return this.at < 0 ? Math.round(end_ns / 2) : Math.round(
			(begin[this.at] + (begin[this.at + 1] ?? end_ns)) / 2);
	}

	/* How dragging changes the range: moves one of its edges, moves the
	 * range, or starts a new one. */
	private grip(x: number): (ns: number) => Range {
		const range = this.range;
		const start = this.ns(x);
		const sorted = (a: number, b: number): Range =>
			a <= b ? [a, b] : [b, a];

		if (range) {
			const [from, to] = range;

			if (Math.abs(x - this.x(from)) < NEAR)
				return (ns) => sorted(to, ns);
			if (Math.abs(x - this.x(to)) < NEAR)
				return (ns) => sorted(from, ns);
			if (start > from && start < to &&
			    to - from < this.times.end_ns)
				return (ns) => {
					const by = Math.max(-from, Math.min(
						this.times.end_ns - to,
						ns - start));
					return [from + by, to + by];
				};
		}
		return (ns) => sorted(start, ns);
	}

	private press(event: PointerEvent): void {
		if (event.button !== 0)
			return;
		this.pull = this.grip(this.place(event));
		this.chart.setPointerCapture(event.pointerId);
	}

	private move(event: PointerEvent): void {
		const x = this.place(event);

		if (this.pull)
			this.pulled = this.pull(this.ns(x));
		this.chart.classList.toggle("edge", this.range !== null &&
			this.range.some((ns) => Math.abs(this.x(ns) - x) < NEAR));
		this.point(this.stepAt(this.ns(x)));
		this.watch();
	}

	private release(event: PointerEvent): void {
		const pulled = this.pulled;

		this.pull = this.pulled = null;
		this.chart.releasePointerCapture(event.pointerId);
		if (!pulled)
			return;
		if (this.x(pulled[1] - pulled[0]) >= 2) {
			this.range = pulled;
			this.acts.brush(...pulled);
		}
		this.drawOver();
	}

	private key(event: KeyboardEvent): void {
		const right = event.key === "ArrowRight";
		const { begin, end_ns } = this.times;

		if (event.key === "Escape" && this.range) {
			this.acts.clear();
			event.stopPropagation();
			return;
		}
		if (!right && event.key !== "ArrowLeft")
			return;
		event.preventDefault();
		const from = Math.max(0, this.at);
		const by = Math.max(1, Math.round(begin.length / 100));
		this.point(from + (right ? by : -by));
		if (!event.shiftKey)
			return;
		const edge = (at: number) => begin[at] ?? end_ns;
		const old = this.range ?? [edge(from), edge(from)];
		const moved = edge(this.at);
		const range: Range = Math.abs(old[0] - edge(from)) <
			Math.abs(old[1] - edge(from)) ?
			[moved, old[1]] : [old[0], moved];
		range.sort((a, b) => a - b);
		if (range[1] > range[0])
			this.acts.brush(...range);
	}
}
