/*
 * A result as a chart: lines over time if a column is a time or a step, else
 * bars by the first text column. It draws numeric columns.
 */
import { Cell, Result, numbers } from "./answers";
import * as axis from "./axis";
import { h, svg } from "./dom";

const WIDE = 1000, HIGH = 320, LEFT = 64, BOTTOM = 24;
const BARS = 60;

export function unit(column: string): axis.Unit {
	if (/bytes|^size|_size|^usable$|^live$|^peak$/.test(column))
		return "bytes";
	return /_ns$/.test(column) ? "ns" : "count";
}

export function isNumber(result: Result, column: string): boolean {
	return result.rows.some((row) => typeof row[column] === "number") &&
		result.rows.every((row) => row[column] === null ||
				  typeof row[column] === "number");
}

const IDS = /^(process|context|address|frame|thread|pid|step|steps|map|line|number)$/;

function chartColumns(result: Result, x: string | undefined): string[] {
	return result.columns.filter((column) => column !== x &&
		!IDS.test(column) && isNumber(result, column)).slice(0, 8);
}

function legend(columns: string[]): HTMLElement {
	return h("p", { class: "chart-legend" }, ...columns.map((column, i) =>
		h("span", {}, h("i", { class: `swatch k${i}` }), column)));
}

function lines(result: Result, x: string, columns: string[]): SVGSVGElement {
	const at = numbers(result, x);
	const from = Math.min(...at), to = Math.max(...at, from + 1);
	const of = unit(columns[0]);
	const max = Math.max(1, ...columns.flatMap((column) =>
		numbers(result, column)));
	const px = (value: number) => LEFT + (value - from) / (to - from) *
		(WIDE - LEFT - 8);
	const py = (value: number) => HIGH - BOTTOM - value / max *
		(HIGH - BOTTOM - 10);
	const marks = unit(x) === "ns" ? axis.times(from, to) :
		axis.ticks(to, "count", 8).filter((value) => value >= from);

	return svg("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`,
			    role: "img", "aria-label": "chart" },
		...axis.ticks(max, of, 5).flatMap((value) => [
			svg("line", { class: "grid", x1: LEFT, x2: WIDE,
				      y1: py(value), y2: py(value) }),
			svg("text", { class: "tick", x: LEFT - 6,
				y: py(value) + 4, "text-anchor": "end" },
				axis.tick(of, value))]),
		...marks.map((value) => svg("text", { class: "tick",
			x: px(value), y: HIGH - 8, "text-anchor": "middle" },
			unit(x) === "ns" ? axis.tell(value) : value)),
		...columns.map((column, i) => svg("polyline", {
			class: `line k${i}`, points: numbers(result, column)
				.map((value, row) => `${px(at[row]).toFixed(1)},` +
					py(value).toFixed(1)).join(" ") })));
}

function label(row: Record<string, Cell>, columns: string[]): string {
	return columns.map((column) => String(row[column] ?? "")).join(" · ") ||
		"(no name)";
}

/* Names are above their bars, since names are long. */
function bars(result: Result, columns: string[]): SVGSVGElement {
	const value = columns[0];
	const names = result.columns.filter((column) =>
		!isNumber(result, column));
	const of = unit(value);
	const rows = result.rows.slice(0, BARS);
	const max = Math.max(1, ...rows.map((row) => Number(row[value])));

	return svg("svg", { class: "chart", role: "img", "aria-label": "chart",
			    viewBox: `0 0 ${WIDE} ${rows.length * 30 + 6}` },
		...rows.flatMap((row, i) => {
			const y = i * 30 + 4;
			const width = Number(row[value]) / max * (WIDE - 110);

			return [svg("text", { class: "bar-name", x: 0, y: y + 9 },
				label(row, names.length ? names :
				      result.columns.filter((one) =>
					one !== value)).slice(0, 150)),
				svg("rect", { class: "area solid k0", x: 0,
					y: y + 13, width: Math.max(1, width),
					height: 9 }),
				svg("text", { class: "tick", y: y + 22,
					x: Math.max(1, width) + 6 },
				axis.figure(of, Number(row[value])))];
		}));
}

/* null: there is nothing to draw. */
export function chart(result: Result): { chart: SVGSVGElement;
		element: HTMLElement } | null {
	const x = result.columns.find((column) => isNumber(result, column) &&
		/^(step|time_ns|begin_ns|size|size_class|lifetime_class)$/
			.test(column)) ?? result.columns.find((column) =>
		isNumber(result, column) && /_ns$/.test(column));
	const columns = chartColumns(result, x);

	if (columns.length === 0)
		return null;
	const made = x !== undefined && result.rows.length > 2 ?
		lines(result, x, columns) : bars(result, columns);
	return { chart: made, element: h("div", { class: "chart-box" },
		x === undefined || result.rows.length <= 2 ?
		legend(columns.slice(0, 1)) : legend(columns), made) };
}
