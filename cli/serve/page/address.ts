/*
 * The state of the page is in its URL, after #: the view, the trace, the
 * filters, and the view's own settings. So reloads, links and the Back button
 * show the same.
 *
 *	#groups?trace=a1&from=10%25&size-min=4k&by=site&sort=peak
 *
 * Filters and the trace are kept when the view changes; other settings belong
 * to the view.
 */
import { filter } from "./options";

export type Pair = [string, string];
export type Changes = Record<string, string | number | string[] | null>;

const EVERYWHERE = ["trace"];

function isKept(name: string): boolean {
	return EVERYWHERE.includes(name) || filter(name) !== undefined;
}

export class Address {
	view = "";
	private values = new URLSearchParams();
	private readonly listeners: (() => void)[] = [];

	constructor() {
		this.read();
		addEventListener("hashchange", () => {
			this.read();
			this.changed();
		});
	}

	private read(): void {
		const [view, values] = location.hash.slice(1).split(/\?(.*)/s);

		this.view = decodeURIComponent(view ?? "");
		this.values = new URLSearchParams(values ?? "");
	}

	private changed(): void {
		for (const listener of this.listeners)
			listener();
	}

	listen(listener: () => void): void {
		this.listeners.push(listener);
	}

	get(name: string): string | undefined {
		return this.values.get(name) ?? undefined;
	}

	/* All values of a parameter. */
	all(name: string): string[] {
		return this.values.getAll(name);
	}

	/* The parameter if it is one of these values; else the first value. */
	oneOf<T extends string>(name: string, all: readonly T[]): T {
		const value = this.get(name) as T | undefined;

		return value !== undefined && all.includes(value) ? value :
			all[0];
	}

	/* The active filters, in order of their addition. */
	filters(): Pair[] {
		return Array.from(this.values).filter(([name]) =>
			filter(name) !== undefined);
	}

	/* The URL with some changes; null removes, a list sets several. */
	link(changes: Changes, view = this.view): string {
		const next = new URLSearchParams();

		for (const [name, value] of this.values)
			if (!(name in changes) &&
			    (view === this.view || isKept(name)))
				next.append(name, value);
		for (const [name, value] of Object.entries(changes))
			if (value !== null)
				for (const one of Array.isArray(value) ?
					value : [value])
					next.append(name, String(one));
		const text = next.toString();
		return `#${encodeURIComponent(view)}${text && "?" + text}`;
	}

	/* The changes that exclude what one filter selects; undefined:
	 * impossible, or there are several filters. */
	without(filters: Pair[]): Changes | undefined {
		const [[name, value] = ["", ""]] = filters;
		const flips = filters.length === 1 ? filter(name)?.flips :
			undefined;

		return flips === undefined ? undefined :
			{ [flips]: [...this.all(flips), value] };
	}

	/* Go to another URL, with a history entry. */
	go(changes: Changes, view = this.view): void {
		this.take(this.link(changes, view), false);
	}

	/* Go to another URL without a history entry. */
	amend(changes: Changes): void {
		this.take(this.link(changes), true);
	}

	private take(link: string, replaces: boolean): void {
		if (link === location.hash)
			return;
		if (replaces)
			history.replaceState(null, "", link);
		else
			history.pushState(null, "", link);
		this.read();
		this.changed();
	}

	addFilter(name: string, value: string): void {
		const all = this.all(name);

		if (!all.includes(value))
			this.go({ [name]: [...all, value] });
	}

	removeFilter(name: string, value: string): void {
		this.go({ [name]: this.all(name)
			.filter((one) => one !== value) });
	}
}
