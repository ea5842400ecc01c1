/*
 * Moments and ranges of time in the syntax of filters: "250ms", "30%", "@NAME",
 * "start"; the page itself writes ns.
 */
import { Address } from "./address";
import { Mark } from "./timeline";
import * as quantity from "../../page/quantity";

const UNITS: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9,
	min: 6e10, m: 6e10, h: 3.6e12 };

/* Parses a moment; undefined: invalid, or unknown here. */
export function ofText(text: string, end_ns: number, marks: Mark[]):
		number | undefined {
	const share = /^([\d.]+)%$/.exec(text);
	const time = /^([\d.]+)(ns|us|ms|s|min|m|h)$/.exec(text);

	if (share)
		return Number(share[1]) / 100 * end_ns;
	if (time)
		return Number(time[1]) * UNITS[time[2]];
	if (text === "start")
		return 0;
	return text[0] === "@" ? marks.find(({ name }) =>
		name === text.slice(1))?.time_ns : undefined;
}

export function text(ns: number): string {
	return `${Math.round(ns)}ns`;
}

/* The brushed range; null: none. */
export function range(address: Address, end_ns: number, marks: Mark[]):
		[number, number] | null {
	const from = address.get("from"), to = address.get("to");
	const ns = (moment: string | undefined, other: number) =>
		(moment === undefined ? undefined :
		ofText(moment, end_ns, marks)) ?? other;

	return from === undefined && to === undefined ? null :
		[ns(from, 0), Math.min(end_ns, ns(to, end_ns))];
}

/* Moments of "alive at" filters, as marks in timelines. */
export function alive(address: Address, end_ns: number, marks: Mark[]): Mark[] {
	return address.filters().filter(([name]) => name === "alive-at" ||
		name === "alive-at-2").map(([, moment]) => ({
		time_ns: ofText(moment, end_ns, marks) ?? -1, kind: "alive",
		name: "alive here" })).filter(({ time_ns }) => time_ns >= 0);
}

/* Whether a filter selects one moment: then nothing can be shown over time. */
export function isOne(address: Address): boolean {
	return address.get("alive-at") !== undefined;
}

/* The readable form: ns are rounded. */
export function readable(moment: string): string {
	const ns = /^(\d+)ns$/.exec(moment);

	return ns ? quantity.time(Number(ns[1])) : moment;
}
