/*
 * The state of the page, and listeners for its changes.
 */
import { Column, Cost, Tree, Widths } from "./flame_data";

export class State {
	readonly tree: Tree;
	cost: Cost;
	icicle: boolean;
	widths: Widths = "larger";
	zoomed = 0;
	selected = 0;
	pattern: RegExp | null = null;
	hits = new Set<number>();
	private readonly listeners: (() => void)[] = [];

	constructor(tree: Tree) {
		this.tree = tree;
		this.cost = tree.data.cost;
		this.icicle = tree.data.icicle;
	}

	listen(listener: () => void): void {
		this.listeners.push(listener);
	}

	/* The column for the width of boxes. */
	get width(): Column {
		return this.tree.width(this.cost, this.widths);
	}

	change(what: Partial<Pick<State, "cost" | "icicle" | "widths" |
				  "zoomed" | "selected">>): void {
		Object.assign(this, what);
		for (const listener of this.listeners)
			listener();
	}

	/* Each distinct name is matched only once. */
	search(pattern: RegExp | null): void {
		const known = new Map<string, boolean>();

		this.pattern = pattern;
		this.hits.clear();
		for (let n = 0; pattern && n < this.tree.count; n++) {
			const name = this.tree.name(n);
			const hit = known.get(name) ?? pattern.test(name);

			known.set(name, hit);
			if (hit)
				this.hits.add(n);
		}
		this.change({});
	}

	/* The sum of a column over all stacks with a function that matched. */
	found(column: Column): number {
		let sum = 0, behind = 0;

		for (const n of this.hits) {
			if (n < behind)
				continue;
			sum += this.tree.value(column, n);
			behind = this.tree.end[n];
		}
		return sum;
	}

	/* Hits in descending order of value, wrapping around. */
	nextHit(from: number, step: 1 | -1): number | undefined {
		const value = (n: number) => this.tree.value(this.width, n);
		const hits = Array.from(this.hits).filter((n) => value(n) > 0)
			.sort((a, b) => value(b) - value(a) || a - b);
		const at = hits.indexOf(from);

		if (at < 0)
			return hits[0];
		return hits[(at + step + hits.length) % hits.length];
	}
}
