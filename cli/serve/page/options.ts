/*
 * Filters: the options of `gnomon report` that select blocks, in the groups of
 * the page. Names and meanings are the command's.
 */

export interface Filter {
	name: string;		/* name of the option, without -- */
	label: string;		/* label of an active filter */
	example?: string;
	values?: string[];	/* all possible values */
	flips?: string;		/* the inverse filter */
}

export interface Group {
	title: string;
	filters: Filter[];
}

const range = (name: string, label: string, example: string): Filter[] => [
	{ name: `${name}-min`, label: `${label} ≥`, example },
	{ name: `${name}-max`, label: `${label} ≤`, example },
];

export const GROUPS: Group[] = [
	{ title: "Time", filters: [
		{ name: "from", label: "allocated from", example: "250ms, 30%, @NAME" },
		{ name: "to", label: "allocated before", example: "1.5s, 60%" },
		{ name: "alive-at", label: "alive at", example: "50%, @NAME" },
		{ name: "alive-at-2", label: "and alive at", example: "90%" },
		{ name: "marker", label: "after marker", example: "NAME" } ] },
	{ title: "Size and lifetime", filters: [
		...range("size", "size", "4k"),
		...range("lifetime", "lifetime", "10ms"),
		{ name: "fate", label: "fate", values: ["live", "freed",
			"temporary", "chain-live", "group-live"] },
		{ name: "temporary", label: "temporary within",
		  example: "0 allocations" } ] },
	{ title: "Call stack", filters: [
		{ name: "function", label: "through", example: "^parse_",
		  flips: "not-function" },
		{ name: "not-function", label: "not through",
		  example: "^parse_", flips: "function" },
		{ name: "passes-through", label: "called by", example: "^main$" },
		{ name: "source", label: "source", example: "\\.cc$",
		  flips: "not-source" },
		{ name: "not-source", label: "not source", example: "\\.cc$",
		  flips: "source" },
		{ name: "library", label: "library", example: "libc",
		  flips: "not-library" },
		{ name: "not-library", label: "not library", example: "libc",
		  flips: "library" },
		{ name: "context", label: "call stack", example: "12" },
		{ name: "free-context", label: "freed by stack", example: "12" },
		...range("depth", "frames", "5") ] },
	{ title: "Whole call stacks", filters: [
		...range("group-count", "stack's allocations", "1000"),
		...range("group-live", "stack's live blocks", "1"),
		...range("group-interval", "stack active for", "1s"),
		...range("group-peak-time", "stack's peak at", "50%") ] },
	{ title: "Chains of reallocs", filters: [
		...range("chain-length", "chain length", "2"),
		...range("chain-lifetime", "chain lifetime", "1s"),
		...range("chain-position", "place in chain", "2"),
		...range("first-size", "first size", "16"),
		...range("last-size", "last size", "4k") ] },
	{ title: "Who and where", filters: [
		{ name: "thread", label: "thread", example: "number or name" },
		{ name: "process", label: "process", example: "number or name" },
		{ name: "allocator", label: "allocator", values: ["libc", "other"] },
		{ name: "arena", label: "arena", values: ["main", "other"] },
		{ name: "mmapped", label: "own mapping", values: ["yes", "no"] },
		{ name: "heap", label: "heap", example: "name" },
		{ name: "map", label: "mapping", example: "heap, address, path" },
		...range("address", "address", "0x7f00") ] },
];

const BY_NAME = new Map<string, Filter>(GROUPS.flatMap((group) =>
	group.filters.map((one): [string, Filter] => [one.name, one])));

export function filter(name: string): Filter | undefined {
	return BY_NAME.get(name);
}

/* A regular expression that matches exactly this name. */
export function exactly(name: string): string {
	return `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`;
}

/* The inverse: the readable form of an exact expression. */
export function readable(value: string): string {
	const exact = /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^\w])*)\$$/.exec(value);

	return exact ? exact[1].replace(/\\(.)/g, "$1") : value;
}
