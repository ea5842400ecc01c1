/*
 * A density plot of sizes and lifetimes: a field for each pair of powers of
 * two, darker the more it contains, with the histograms of both beside it.
 * Dragging sets a filter.
 */
import * as quantity from "../../page/quantity";
import { h, svg } from "./dom";

export interface Pair {
	size: number;		/* a power of two, or 0 */
	lifetime: number | null;	/* ns; null: never freed */
	value: number;
}

export interface Range {
	sizes: [number, number] | null;
	lifetimes: [number, number] | null;	/* ns; null: includes live */
}

/* Points: the bars of sizes are above their labels, which are above the
 * fields. */
const LEFT = 74, SIDE = 72, TOP = SIDE + 24, GAP = 8, CELL = 28, HIGH = 17;

interface Axis {
	values: (number | null)[];
	sums: number[];
}

/* Powers of two without gaps; blocks that were never freed come last. */
function axis(pairs: Pair[], of: (pair: Pair) => number | null): Axis {
	const known = pairs.map(of).filter((value): value is number =>
		value !== null).map((value) => Math.max(0, Math.round(
		Math.log2(Math.max(1, value)))));
	const from = Math.min(...known), to = Math.max(...known);
	const values: (number | null)[] = known.length ? Array.from(
		{ length: to - from + 1 }, (_, i) => 2 ** (from + i)) : [];

	if (pairs.some((pair) => of(pair) === null))
		values.push(null);
	const sums = values.map((value) => pairs.filter((pair) =>
		at(of(pair)) === at(value)).reduce((sum, one) =>
		sum + one.value, 0));
	return { values, sums };
}

const at = (value: number | null) => value === null ? -1 :
	Math.round(Math.log2(Math.max(1, value)));

/* The field of 1 also has the blocks of size or lifetime 0. */
const first = (value: number) => value === 1 ? 0 : value;

function time(value: number | null): string {
	return value === null ? "never freed" : quantity.time(value)
		.replace(/\.\d+/, "");
}

const label = (value: number | null) =>
	time(value === null ? null : first(value));

const between = ([from, to]: string[]) =>
	from === to ? from : `${from} – ${to}`;

export class Density {
	readonly element: HTMLElement;
	chart = svg("svg", {});
	private sizes: Axis = { values: [], sums: [] };
	private lives: Axis = { values: [], sums: [] };
	private start: [number, number] | null = null;
	private end: [number, number] | null = null;
	private at: [number, number] | null = null;	/* the field selected by
							 * keys */
	private sums = new Map<string, number>();
	private readonly over = svg("rect", { class: "brush" });
	private readonly said = h("p", { class: "said-line", role: "status" });

	constructor(private readonly figure: (value: number) => string,
		    private readonly brush: (range: Range) => void) {
		this.element = h("div", { class: "density" });
	}

	show(pairs: Pair[]): void {
		const sums = new Map<string, number>();

		this.sizes = axis(pairs, (pair) => pair.size);
		this.lives = axis(pairs, (pair) => pair.lifetime);
		for (const { size, lifetime, value } of pairs) {
			const key = `${at(size)} ${at(lifetime)}`;
			sums.set(key, (sums.get(key) ?? 0) + value);
		}
		this.draw(sums);
	}

	private x(column: number): number {
		return LEFT + column * CELL;
	}

	/* The longest lifetime is at the top. */
	private y(row: number): number {
		return TOP + (this.lives.values.length - 1 - row) * HIGH;
	}

	private draw(sums: Map<string, number>): void {
		const { sizes } = this;
		const right = this.x(sizes.values.length) + GAP;
		const bottom = this.y(-1);

		this.sums = sums;
		this.chart = svg("svg", { class: "density-chart", tabindex: 0,
			width: right + SIDE + 60, height: bottom + HIGH,
			role: "application", "aria-label": "sizes against " +
			"lifetimes: arrow keys move from field to field, with " +
			"Shift they select several, Enter filters by them" },
			...this.cells(sums),
			...this.bars(right), ...this.labels(), this.over);
		this.over.setAttribute("visibility", "hidden");
		this.listen();
		this.element.replaceChildren(this.chart, this.said);
		this.tell("Drag over fields or bars to filter by them.");
	}

	private cells(sums: Map<string, number>): SVGElement[] {
		const max = Math.max(...sums.values(), 1);
		const all: SVGElement[] = [];

		this.sizes.values.forEach((size, column) =>
			this.lives.values.forEach((life, row) => {
				const value = sums.get(`${at(size)} ${
					at(life)}`) ?? 0;

				/* Small values stay visible. */
				all.push(svg("rect", { class: "field",
					x: this.x(column), y: this.y(row),
					width: CELL - 1, height: HIGH - 1,
					"fill-opacity": value === 0 ? 0 :
					.08 + .92 * Math.sqrt(Math.log1p(value) /
					Math.log1p(max)) ** 3 },
					value > 0 && svg("title", {}, `${
					quantity.size(first(size ?? 0))} and more, ` +
					`${label(life)}: ${this.figure(value)}`)));
			}));
		return all;
	}

	/* At the top: sums by size; at the right: sums by lifetime. */
	private bars(right: number): SVGElement[] {
		const max = Math.max(...this.sizes.sums, 1);
		const longest = Math.max(...this.lives.sums, 1);

		return [...this.sizes.sums.map((sum, column) => {
			const tall = sum / max * (SIDE - 8);

			return svg("rect", { class: "area solid k0",
				x: this.x(column), width: CELL - 2,
				y: SIDE - tall, height: tall },
				svg("title", {}, this.figure(sum)));
		}), ...this.lives.sums.flatMap((sum, row) => [
			svg("rect", { class: "area solid k1", x: right,
				y: this.y(row), height: HIGH - 2,
				width: sum / longest * SIDE }),
			sum > 0 ? svg("text", { class: "tick",
				x: right + sum / longest * SIDE + 4,
				y: this.y(row) + 12 }, this.figure(sum)) :
				svg("g", {})])];
	}

	private labels(): SVGElement[] {
		return [...this.sizes.values.map((size, column) =>
			svg("text", { class: "tick", "text-anchor": "middle",
				x: this.x(column) + CELL / 2, y: SIDE + 14 },
				column % 2 ? "" : quantity.size(
				first(size ?? 0)).replace(".0", "").replace(" B", ""))),
			...this.lives.values.map((life, row) =>
				svg("text", { class: "tick", x: LEFT - 6,
					y: this.y(row) + 12,
					"text-anchor": "end" }, label(life))),
			svg("text", { class: "tick", x: 2, y: SIDE + 14 },
			    "lived ↓ size →")];
	}

	private tell(text: string): void {
		this.said.textContent = text;
	}

	/* ---- brush ---- */

	private place(event: PointerEvent): [number, number] {
		const box = this.chart.getBoundingClientRect();
		const column = Math.floor((event.clientX - box.left - LEFT) / CELL);
		const row = this.lives.values.length - 1 - Math.floor(
			(event.clientY - box.top - TOP) / HIGH);

		return [column, row];
	}

	private listen(): void {
		const { chart } = this;

		chart.addEventListener("pointerdown", (event) => {
			if (event.button !== 0)
				return;
			this.at = null;
			this.start = this.end = this.place(event);
			chart.setPointerCapture(event.pointerId);
			this.drawBrush();
		});
		chart.addEventListener("pointermove", (event) => {
			if (!chart.hasPointerCapture(event.pointerId))
				return;
			this.end = this.place(event);
			this.drawBrush();
		});
		chart.addEventListener("pointerup", () => {
			if (this.start && !this.at)
				this.take();
		});
		chart.addEventListener("pointercancel", () => {
			this.start = null;
			this.over.setAttribute("visibility", "hidden");
		});
		chart.addEventListener("keydown", (event) => this.key(event));
	}

	private take(): void {
		const [columns, rows] = this.brushed();

		this.start = null;
		this.brush({ sizes: columns && this.sizesOf(columns),
			     lifetimes: rows && this.livesOf(rows) });
	}

	private key(event: KeyboardEvent): void {
		const steps: Record<string, [number, number]> = {
			ArrowLeft: [-1, 0], ArrowRight: [1, 0],
			ArrowDown: [0, -1], ArrowUp: [0, 1] };
		const step = steps[event.key];
		const inside = (value: number, count: number) =>
			Math.max(0, Math.min(count - 1, value));

		/* Without a start, the fields are already the filter. */
		if (event.key === "Enter" && this.at && this.start) {
			event.preventDefault();
			this.take();
			return;
		}
		if (!step)
			return;
		event.preventDefault();
		const from = this.at ?? [-step[0], -step[1]];
		this.at = [inside(from[0] + step[0], this.sizes.values.length),
			   inside(from[1] + step[1], this.lives.values.length)];
		this.end = this.at;
		if (!event.shiftKey || !this.start)
			this.start = this.at;
		this.drawBrush();
	}

	/* The brushed columns and rows; null: all, if the drag was over the
	 * bars of the other axis. */
	private brushed(): [[number, number] | null, [number, number] | null] {
		const [a, b] = [this.start ?? [0, 0], this.end ?? [0, 0]];
		const span = (from: number, to: number, count: number):
				[number, number] | null => {
			const low = Math.min(from, to), high = Math.max(from, to);

			return high < 0 || low >= count ? null :
				[Math.max(0, low), Math.min(count - 1, high)];
		};

		return [span(a[0], b[0], this.sizes.values.length),
			span(a[1], b[1], this.lives.values.length)];
	}

	private sizesOf([from, to]: [number, number]): [number, number] {
		return [first(this.sizes.values[from] ?? 0),
			2 * (this.sizes.values[to] ?? 0) - 1];
	}

	private livesOf([from, to]: [number, number]): [number, number] {
		const low = this.lives.values[from], last = this.lives.values[to];

		return [low == null ? -1 : first(low), last === null ? -1 : 2 * last - 1];
	}

	private drawBrush(): void {
		const [columns, rows] = this.brushed();
		const [left, right] = columns ?? [0, this.sizes.values.length - 1];
		const [low, high] = rows ?? [0, this.lives.values.length - 1];

		for (const [name, value] of Object.entries({
			x: this.x(left), width: (right - left + 1) * CELL,
			y: this.y(high), height: (high - low + 1) * HIGH,
			visibility: "visible" }))
			this.over.setAttribute(name, String(value));
		this.tell([columns && between(this.sizesOf(columns).map((size) =>
			quantity.size(size))),
			rows && between(this.livesOf(rows).map((ns) =>
				time(ns < 0 ? null : ns))),
			this.figure(this.sum([left, right], [low, high]))]
			.filter(Boolean).join(", "));
	}

	/* The sum over some columns and rows. */
	private sum(columns: [number, number], rows: [number, number]): number {
		let sum = 0;

		for (let column = columns[0]; column <= columns[1]; column++)
			for (let row = rows[0]; row <= rows[1]; row++)
				sum += this.sums.get(`${at(this.sizes.values[
					column])} ${at(this.lives.values[row])}`) ??
					0;
		return sum;
	}
}
