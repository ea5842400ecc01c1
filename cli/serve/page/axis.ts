/*
 * Scales and marks of SVG charts. Colours come from the style sheet; charts can
 * be exported as files.
 */
import * as scale from "../../page/graph_scale";
import * as quantity from "../../page/quantity";
import { download, svg } from "./dom";

export type Unit = "bytes" | "count" | "ns";

export function figure(unit: Unit, value: number): string {
	if (unit === "bytes")
		return quantity.size(Math.round(value));
	return unit === "ns" ? quantity.time(value) :
		quantity.count(Math.round(value));
}

/* A short form for ticks, also for counts: 1.2m for 1200000. */
export function tick(unit: Unit, value: number): string {
	if (unit !== "count" || value < 10000)
		return value === 0 ? "0" : scale.brief(figure(unit, value));
	const [part, letter] = value < 1e6 ? [value / 1e3, "k"] :
		[value / 1e6, "m"];

	return part.toFixed(1).replace(/\.0$/, "") + letter;
}

/* At most `number` round values from 0 to `max`. */
export function ticks(max: number, unit: Unit, number: number): number[] {
	const all = unit === "ns" ? scale.ofTimes(max) :
		scale.ofValues(max, unit === "bytes");
	const every = Math.ceil((all.length - 1) / number) || 1;

	return all.filter((_, i) => i % every === 0);
}

/* Round times between two times. */
export function times(from: number, to: number): number[] {
	const all = scale.ofTimes(to - from);
	const step = all[1] ?? 0;

	if (step <= 0)
		return [from];
	const first = Math.ceil(from / step) * step;
	return Array.from({ length: Math.floor((to - first) / step) + 1 },
			  (_, i) => first + i * step);
}

export const tell = scale.time;

/* A step path; steps are as wide as their time. */
export function stairs(x: (i: number) => number, values: ArrayLike<number>,
		       y: (value: number) => number): string {
	let path = "";

	for (let i = 0; i < values.length; i++)
		path += `${i ? "L" : "M"}${x(i).toFixed(1)} ` +
			`${y(values[i]).toFixed(1)}H${x(i + 1).toFixed(1)}`;
	return path;
}

/* A sparkline: a row over time, within a line of text. */
export function spark(values: number[], wide = 96, high = 18): SVGElement {
	const max = Math.max(...values, 1);
	const y = (value: number) => high - 1 - value / max * (high - 3);
	const x = (i: number) => i / values.length * wide;
	const line = stairs(x, values, y);

	return svg("svg", { class: "spark", width: wide, height: high,
			    viewBox: `0 0 ${wide} ${high}`,
			    "aria-hidden": "true" },
		svg("path", { class: "spark-area",
			      d: `${line}V${high}H0Z` }),
		svg("path", { class: "spark-line", d: line }));
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width",
	"stroke-dasharray", "opacity", "font-size", "font-family",
	"text-anchor", "font-weight"];

/* Save a chart as an SVG file with its current colours. */
export function exportSvg(chart: SVGSVGElement, name: string): void {
	const copy = chart.cloneNode(true) as SVGSVGElement;
	const from = chart.querySelectorAll("*");
	const ground = getComputedStyle(document.body).backgroundColor;

	copy.querySelectorAll<SVGElement>("*").forEach((one, i) => {
		const style = getComputedStyle(from[i]);

		for (const what of STYLES)
			one.setAttribute(what, style.getPropertyValue(what));
		one.removeAttribute("class");
	});
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	copy.prepend(svg("rect", { width: "100%", height: "100%",
				   fill: ground }));
	download(name, "image/svg+xml",
		 new XMLSerializer().serializeToString(copy));
}
