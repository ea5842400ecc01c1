/*
 * Formats sizes, times and numbers like the command (cli/base/text/quantity.c).
 */

export function size(bytes: number): string {
	const units = "KMGTPE";
	let value = bytes;
	let unit = -1;

	if (Math.abs(bytes) < 1024)
		return `${bytes} B`;
	while ((Math.abs(value) >= 1023.95 || unit < 0) && unit < 5) {
		value /= 1024;
		unit++;
	}
	return value.toFixed(Math.abs(value) < 99.95 ? 1 : 0) + units[unit];
}

/* 1,234,567, in any browser language. */
export function count(value: number): string {
	return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function percent(part: number, whole: number): string {
	return (whole > 0 ? 100 * part / whole : 0).toFixed(1) + "%";
}

export function time(ns: number): string {
	const s = ns / 1e9;
	const whole = Math.floor(s);
	const two = (n: number) => String(Math.floor(n)).padStart(2, "0");

	if (ns < 1e3)
		return `${Math.round(ns)}ns`;
	if (ns < 1e6)
		return `${(s * 1e6).toFixed(1)}us`;
	if (ns < 1e9)
		return `${(s * 1e3).toFixed(1)}ms`;
	if (whole < 60)
		return `${s.toFixed(2)}s`;
	if (whole < 3600)
		return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
	return `${Math.floor(whole / 3600)}h${two(whole / 60 % 60)}m` +
		`${two(whole % 60)}s`;
}
