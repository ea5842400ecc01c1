/*
 * The plot: stacked areas, or lines, on a canvas of the size of its element.
 * The width of a step is its time.
 */
import { Cost, Series, briefly, colour, isBytes, valueAt } from
	"./graph_data";
import * as scale from "./graph_scale";

const LEFT = 64, RIGHT = 14, TOP = 10, BOTTOM = 26;
const DASHES = [[], [7, 3], [2, 3]];
const SHADES = [1, .66, .4];
const FONT = '12px system-ui, "DejaVu Sans", sans-serif';

export interface Shown {
	series: Series[];	/* all, in order */
	hidden: Set<number>;
	cost: Cost;
	stacked: boolean;
	at: number;		/* the pointed step; -1: none */
	steps: number;
	end_ns: number;
}

export class Plot {
	private readonly canvas: HTMLCanvasElement;
	private readonly paint: CanvasRenderingContext2D;
	private readonly probe: HTMLElement;
	private wide = 0;
	private high = 0;
	private max = 1;

	constructor(element: HTMLElement, private readonly shown: Shown) {
		this.canvas = element.querySelector("canvas") as
			HTMLCanvasElement;
		this.paint = this.canvas.getContext("2d") as
			CanvasRenderingContext2D;
		this.probe = document.createElement("span");
		element.append(this.probe);
	}

	/* The step at an x position; -1: none. */
	stepAt(x: number): number {
		const part = (x - LEFT) / (this.wide - LEFT - RIGHT);

		return part < 0 || part >= 1 ? -1 :
			Math.floor(part * this.shown.steps);
	}

	draw(): void {
		this.fit();
		this.max = this.findMax();
		this.grid();
		this.all();
		this.axis();
		this.mark();
	}

	/* Size the canvas in device pixels. */
	private fit(): void {
		const ratio = devicePixelRatio || 1;

		this.wide = this.canvas.clientWidth;
		this.high = this.canvas.clientHeight;
		this.canvas.width = Math.round(this.wide * ratio);
		this.canvas.height = Math.round(this.high * ratio);
		this.paint.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paint.font = FONT;
	}

	private style(name: string): string {
		return getComputedStyle(document.documentElement)
			.getPropertyValue(name).trim();
	}

	private colour(kind: string): string {
		this.probe.className = kind;
		return getComputedStyle(this.probe).color;
	}

	private findMax(): number {
		const { series, hidden, cost, stacked, steps } = this.shown;
		const sums = new Array<number>(steps).fill(0);

		series.forEach((one, i) => {
			for (let s = 0; s < steps && !hidden.has(i); s++) {
				const value = valueAt(one, cost, s);

				sums[s] = stacked ? sums[s] + value :
					Math.max(sums[s], value);
			}
		});
		return sums.reduce((a, b) => Math.max(a, b), 0) || 1;
	}

	private x(step: number): number {
		return LEFT + step / this.shown.steps *
			(this.wide - LEFT - RIGHT);
	}

	private y(value: number): number {
		return this.high - BOTTOM - value / this.max *
			(this.high - TOP - BOTTOM);
	}

	private grid(): void {
		const { cost } = this.shown;
		const { paint } = this;

		paint.textAlign = "right";
		paint.textBaseline = "middle";
		for (const value of scale.ofValues(this.max, isBytes(cost))) {
			const y = Math.round(this.y(value)) + .5;

			paint.fillStyle = this.style("--grid");
			paint.fillRect(LEFT, y, this.wide - LEFT - RIGHT, 1);
			paint.fillStyle = this.style("--quiet");
			paint.fillText(scale.brief(briefly(cost, value)),
				       LEFT - 7, y);
		}
	}

	private axis(): void {
		const { paint, shown } = this;
		const bottom = this.high - BOTTOM;
		const times = scale.ofTimes(shown.end_ns);

		paint.fillStyle = this.style("--quiet");
		paint.fillRect(LEFT, bottom, this.wide - LEFT - RIGHT, 1);
		paint.textBaseline = "top";
		for (const ns of times) {
			const x = this.x(shown.end_ns ? ns / shown.end_ns *
					 shown.steps : 0);

			paint.textAlign = x > this.wide - 40 ? "right" :
				"center";
			paint.fillRect(x, bottom, 1, 5);
			paint.fillText(scale.time(ns), x, bottom + 8);
		}
	}

	private all(): void {
		const { series, hidden, cost, stacked, steps } = this.shown;
		const base = new Array<number>(steps).fill(0);

		series.forEach((one, i) => {
			if (hidden.has(i))
				return;
			this.one(one, i, base);
			for (let s = 0; s < steps && stacked; s++)
				base[s] += valueAt(one, cost, s);
		});
	}

	private one(series: Series, number: number, base: number[]): void {
		const { cost, stacked } = this.shown;
		const { paint } = this;
		const [kind, shade] = colour(series, number);
		const from = series.from, to = from + series.live_bytes.length;

		paint.beginPath();
		for (let s = from; s < to; s++) {
			const y = this.y(base[s] + valueAt(series, cost, s));

			paint.lineTo(this.x(s), y);
			paint.lineTo(this.x(s + 1), y);
		}
		for (let s = to - 1; s >= from && stacked; s--) {
			paint.lineTo(this.x(s + 1), this.y(base[s]));
			paint.lineTo(this.x(s), this.y(base[s]));
		}
		paint.fillStyle = paint.strokeStyle = this.colour(kind);
		if (stacked) {
			paint.globalAlpha = SHADES[shade];
			paint.fill();
			paint.globalAlpha = 1;
		} else {
			paint.lineWidth = 1.8;
			paint.setLineDash(DASHES[shade]);
			paint.stroke();
			paint.setLineDash([]);
		}
	}

	private mark(): void {
		const { at } = this.shown;

		if (at < 0)
			return;
		this.paint.fillStyle = this.style("--text");
		this.paint.fillRect((this.x(at) + this.x(at + 1)) / 2, TOP, 1,
				    this.high - TOP - BOTTOM);
	}
}
