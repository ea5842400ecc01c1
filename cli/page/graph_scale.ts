/*
 * Round numbers for axes, the same as in cli/graph/graph_svg.c.
 */
import * as quantity from "./quantity";

const TICKS = 8;
const SECONDS = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600, 7200, 21600,
		 43200, 86400];

function step(max: number, binary: boolean): number {
	let tick = 1;

	for (let i = 0; max / tick >= TICKS + 1; i++)
		tick = binary ? tick * 2 : i % 3 === 1 ? tick / 2 * 5 :
			tick * 2;
	return tick;
}

function range(end: number, tick: number): number[] {
	return Array.from({ length: Math.floor(end / tick) + 1 },
			  (_, i) => i * tick);
}

export function ofValues(max: number, binary: boolean): number[] {
	return range(max, step(max, binary));
}

export function ofTimes(end_ns: number): number[] {
	const s = SECONDS.find((s) => end_ns / s / 1e9 < TICKS + 1);

	return range(end_ns, end_ns > TICKS * 1e9 && s !== undefined ? s * 1e9 :
		step(end_ns, false));
}

/* At a tick, "10.0ms" becomes "10ms". */
export function brief(text: string): string {
	return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

export function time(ns: number): string {
	return ns === 0 ? "0" : brief(quantity.time(ns));
}
