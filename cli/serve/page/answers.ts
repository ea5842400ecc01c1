/*
 * Types of the server's answers that the page uses: the JSON of `gnomon
 * report`, `info`, `sql` and `diff`.
 */

export interface Trace {
	id: string;
	name: string;
	path: string;
	program: string | null;
	pid: number | null;
	size_bytes: number;
	generation: string | number;
	live: boolean;
	whole: boolean;
	error: string | null;
}

export interface Frame {
	function: string | null;
	named: boolean;
	file: string | null;
	line: number;
	column?: number;
	library: string | null;
	inlined: boolean;
}

/* The measures of struct figures, with the same names in rows, trees and
 * steps. */
export interface Figures {
	live_bytes: number;
	live_blocks: number;
	peak_bytes: number;
	peak_blocks: number;
	total_bytes: number;
	count: number;
	frees: number;
	temporary: number;
	own_peak_bytes?: number;	/* missing if not requested */
	own_peak_time_ns?: number;
	lifetime_ns: number;
	age_ns: number;
	first_ns: number;
	last_ns: number;
	freed_bytes: number;
}

export interface Summary {
	allocations: number;
	frees: number;
	total_bytes: number;
	live_bytes: number;
	live_blocks: number;
	peak_bytes: number;
	peak_blocks: number;
	peak_time_ns: number;
	temporary: number;
	dropped: number;
	unpaired: number;
	duration_ns: number;
	threads: number;
	contexts: number;
	estimated: boolean;
	damaged: number;
	lost_bytes: number;
	damages: number;
	exit: string;
	pid: number;
	program: string;
	command: string;
	complete: boolean;
	rss_peak_bytes?: number;
	rss_peak_time_ns?: number;
}

export interface Step {
	time_ns: number;
	live_bytes: number;
	live_blocks: number;
	allocations: number;
	allocated_bytes: number;
	frees: number;
	freed_bytes: number;
	temporary: number;
}

export interface Row extends Figures {
	context?: number;
	stacks?: number;
	stack?: Frame[];	/* innermost first */
	site?: number;		/* index of the site in `stack` */
	timeline?: Step[];
	[field: string]: unknown;
}

export interface Branch extends Figures, Frame {
	depth: number;
	stacks: number;
	self: Figures;
}

export interface SizeClass {
	min: number;
	max: number;
	count: number;
	total_bytes: number;
	live_blocks?: number;
	live_bytes?: number;
}

/* A finding of `gnomon report`: `lead` is the start of the sentence; names of
 * functions are in backquotes. */
export interface Finding {
	kind: "missing" | "leak" | "growth" | "fragmentation" | "churn" | "peak";
	matters: boolean;
	lead: string;
	sentence: string;
	also?: string;		/* further sites */
	numbers: Record<string, number>;
	function?: string | null;
	query: Record<string, string>;
}

export interface Report {
	summary: Summary;
	findings?: Finding[];
	coverage: {
		undecidable: { allocations: number };
		left_out: { allocations: number };
		lost: { events: number; places: number; bytes: number };
	};
	rows: Row[];
	timeline_step_ns?: number;
	timeline_others?: Step[];
	timeline_all?: Step[];
	chains?: { count: number; blocks: number; longest: number };
}

export type Cell = string | number | null;

export interface Result {
	columns: string[];
	rows: Record<string, Cell>[];
}

/* The result of one statement. */
export function result(value: unknown): Result {
	return (Array.isArray(value) ? value[0] : value) as Result;
}

/* The results of several statements; all lack rows if one failed. */
export function results(value: unknown): Result[] {
	return (Array.isArray(value) ? value : [value]) as Result[];
}

/* A column as numbers; NULL is 0. */
export function numbers(from: Result, column: string): number[] {
	return from.rows.map((row) => Number(row[column] ?? 0));
}
