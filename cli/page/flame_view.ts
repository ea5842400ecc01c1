/*
 * A flame graph in an element, with its controls. The page of `gnomon
 * flamegraph` is this view alone (flame_html.ts); `gnomon serve` has it as one
 * of its views.
 */
import { COSTS, Cost, Tree, Widths, briefly, signed } from "./flame_data";
import { details } from "./flame_details";
import { Graph } from "./flame_graph";
import { State } from "./flame_state";
import { timeline } from "./flame_timeline";
import { ORDERS, Order, reorderTree } from "./flame_turn";
import * as names from "./names";
import * as quantity from "./quantity";

const LEGEND = 14;	/* libraries */
const WIDTHS: { widths: Widths; text: string; title: string }[] = [
	{ widths: "larger", text: "all",
	  title: "width: the larger of both sides" },
	{ widths: "change", text: "changes",
	  title: "width: growth plus shrinkage" },
];
const CHANGES: [string, string][] = [["less4", "gone"],
	["less3", "less than half left"], ["less2", "shrunk"],
	["same", "unchanged"], ["more2", "grown"],
	["more3", "more than doubled"], ["more4", "new"]];

/* Constant markup: it contains no data from the trace. */
const MARKUP = `<div class="bar">
	<div id="costs" class="choice" role="radiogroup" aria-label="cost"></div>
	<div id="layouts" class="choice" role="radiogroup" aria-label="layout"></div>
	<div id="orders" class="choice" role="radiogroup" aria-label="order"></div>
	<div id="widths" class="choice" role="radiogroup" aria-label="widths"
		hidden></div>
	<label class="fold" title="a function that calls itself is one box">
		<input id="fold" type="checkbox"> fold recursion</label>
	<input id="search" type="search" aria-label="search"
		placeholder="search: regular expression"
		autocomplete="off" spellcheck="false">
	<button id="unzoom" type="button" disabled>reset zoom</button>
	<output id="found" for="search"></output>
</div>
<figure id="timeline" hidden>
	<canvas></canvas>
	<figcaption></figcaption>
</figure>
<div class="flame-main">
	<div id="graph" tabindex="0" role="application"
		aria-label="flame graph: arrow keys move from box to box, Enter zooms">
		<div class="room"><canvas></canvas></div>
	</div>
	<aside id="details" aria-live="polite" aria-label="selected box"></aside>
</div>
<div class="flame-foot">
	<div id="legend"></div>
	<p><kbd>1</kbd>–<kbd>5</kbd> cost, <kbd>i</kbd> layout, <kbd>o</kbd> order,
	<kbd>/</kbd> search, <kbd>n</kbd> <kbd>N</kbd> next found, <kbd>←</kbd>
	<kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> zoom,
	<kbd>Esc</kbd> all</p>
</div>
<div id="tip" hidden></div>`;

/* The settings, which can be saved and restored. */
export interface Chosen {
	cost?: Cost;
	icicle?: boolean;
	order?: Order;
	widths?: Widths;
	fold?: boolean;
	search?: string;
	zoom?: string;		/* FlameView.path */
}

export interface Surroundings {
	chosen?: Chosen;
	timeline?: boolean;	/* false: the page has one already */
	changed?(chosen: Chosen): void;
	menu?(event: MouseEvent, tree: Tree, node: number): void;
}


interface Choice {
	value: string;
	text: string;
	more?: string;
	title?: string;
}

class FlameView {
	private readonly state: State;
	private readonly graph: Graph;
	private readonly field: HTMLInputElement;
	private readonly ends = new AbortController();

	constructor(private readonly root: HTMLElement, whole: Tree,
		    private readonly begun: Chosen,
		    private readonly around: Surroundings,
		    private readonly turn: (change: Chosen) => void) {
		root.innerHTML = MARKUP;
		this.state = new State(reorderTree(whole,
			begun.order ?? "callers", begun.fold ?? false));
		this.graph = new Graph(this.state, this.find("graph"),
				       this.find("tip"));
		this.field = this.find("search");
		this.state.cost = begun.cost ?? this.state.cost;
		this.state.icicle = begun.icicle ?? this.state.icicle;
		this.state.widths = begun.widths ?? this.state.widths;
		this.state.zoomed = this.node(begun.zoom ?? "");
		this.state.selected = this.state.zoomed;
		this.field.value = begun.search ?? "";
		this.start();
	}

	private find<T extends HTMLElement>(id: string): T {
		return this.root.querySelector(`#${id}`) as T;
	}

	close(): void {
		this.ends.abort();
	}

	focusSearch(): void {
		this.field.focus();
		this.field.select();
	}

	chosen(): Chosen {
		const { cost, icicle, widths, zoomed } = this.state;

		return { cost, icicle, widths, order: this.begun.order,
			 fold: this.begun.fold, search: this.field.value,
			 zoom: this.path(zoomed) };
	}

	/* ---- a box by its names, independent of its number ---- */

	private path(node: number): string {
		const { tree } = this.state;
		const parts: string[] = [];

		for (let n = node; n !== 0; n = tree.parent[n])
			parts.push(names.mark(tree.name(n)));
		return parts.reverse().join(".");
	}

	/* The node of a path, as far as the path exists. */
	private node(path: string): number {
		const { tree, width } = this.state;
		const { first, list } = tree.order(width);
		let node = 0;

		for (const part of path ? path.split(".") : []) {
			const next = list.subarray(first[node],
				first[node + 1]).find((child) =>
				names.mark(tree.name(child)) === part);

			if (next === undefined)
				break;
			node = next;
		}
		return node;
	}

	/* ---- controls ---- */

	private choice(group: string, { value, text, more, title }: Choice,
		       act: () => void): HTMLInputElement {
		const label = document.createElement("label");
		const input = document.createElement("input");
		const figure = document.createElement("b");

		input.type = "radio";
		input.name = group;
		input.value = value;
		input.addEventListener("change", act);
		figure.textContent = more ?? "";
		label.title = title ?? "";
		label.append(input, text, figure);
		this.find(group).append(label);
		return input;
	}

	private costs(): void {
		const { state } = this;
		const { tree } = state;
		const all = COSTS.map((cost): [Cost, HTMLInputElement] =>
			[cost, this.choice("costs", { value: cost, text: cost,
				more: tree.compares ? signed(cost,
					tree.difference(cost, 0)) :
					briefly(cost, tree.value(cost, 0)) },
				() => state.change({ cost }))]);

		state.listen(() => {
			for (const [cost, input] of all)
				input.checked = cost === state.cost;
		});
	}

	private layout(icicle: boolean): void {
		this.state.change({ icicle });
		this.graph.scrollToRoot();
	}

	private layouts(): void {
		const { state } = this;
		const hanging = this.choice("layouts", { value: "icicle",
			text: "icicle" }, () => this.layout(true));
		const standing = this.choice("layouts", { value: "flame",
			text: "flame" }, () => this.layout(false));

		state.listen(() => {
			hanging.checked = state.icicle;
			standing.checked = !state.icicle;
		});
	}

	/* For a diff. */
	private widths(): void {
		const { state } = this;
		const all = WIDTHS.map(({ widths, text, title }):
			[Widths, HTMLInputElement] => [widths, this.choice(
			"widths", { value: widths, text, title },
			() => state.change({ widths, zoomed: 0 }))]);

		this.find("widths").hidden = !state.tree.compares;
		state.listen(() => {
			for (const [widths, input] of all)
				input.checked = widths === state.widths;
		});
	}

	private orders(): void {
		const now = this.begun.order ?? "callers";
		const fold = this.find<HTMLInputElement>("fold");

		for (const { order, text, title } of ORDERS)
			this.choice("orders", { value: order, text, title },
				    () => this.turn({ order }))
				.checked = order === now;
		fold.checked = this.begun.fold ?? false;
		fold.addEventListener("change", () =>
			this.turn({ fold: fold.checked }));
	}

	/* ---- search ---- */

	private search(): void {
		const wanted = names.pattern(this.field.value.trim());

		this.field.setAttribute("aria-invalid",
					String(wanted === undefined));
		if (wanted !== undefined)
			this.state.search(wanted);
		this.sayFound();
	}

	private sayFound(): void {
		const { state, field } = this;
		const found = this.find("found");
		const { tree, cost } = state;

		if (field.getAttribute("aria-invalid") === "true")
			found.textContent = "not a regular expression";
		else if (state.pattern === null)
			found.textContent = "";
		else
			found.textContent = `${quantity.count(
				state.hits.size)} found: ` + (tree.compares ?
				this.compared(state.found(`before_${cost}`),
					      state.found(cost)) :
				`${briefly(cost, state.found(cost))}, ` +
				quantity.percent(state.found(cost),
						 tree.value(cost, 0)));
	}

	private compared(before: number, after: number): string {
		const { cost } = this.state;

		return `${briefly(cost, before)} → ${briefly(cost, after)}, ` +
			signed(cost, after - before);
	}

	private goToHit(step: 1 | -1): void {
		const hit = this.state.nextHit(this.state.selected, step);

		if (hit !== undefined)
			this.graph.go(hit);
	}

	/* ---- around the graph ---- */

	private legend(): void {
		const entries: [string, string][] = this.state.tree.compares ?
			CHANGES : [["glue", "allocators, start-up"],
			...this.state.tree.coloured().slice(0, LEGEND)];

		for (const [kind, name] of entries) {
			const entry = document.createElement("span");

			entry.innerHTML = '<svg width="12" height="12">' +
				`<rect width="12" height="12" class="${kind}"/>` +
				"</svg>";
			entry.append(name);
			this.find("legend").append(entry);
		}
	}

	private clear(): void {
		this.field.value = "";
		this.search();
		this.state.change({ zoomed: 0, selected: 0 });
		this.find("graph").focus();
	}

	/* Keys that work anywhere except in input fields. */
	private onKey(event: KeyboardEvent): void {
		const { state, field } = this;
		const cost = COSTS[Number(event.key) - 1];

		if (event.key === "Escape") {
			this.clear();
		} else if (event.ctrlKey || event.metaKey || event.altKey) {
			return;
		} else if (event.target === field) {
			if (event.key === "Enter")
				this.goToHit(event.shiftKey ? -1 : 1);
		} else if (event.key === "/") {
			this.focusSearch();
			event.preventDefault();
		} else if (event.key === "i") {
			this.layout(!state.icicle);
		} else if (event.key === "o") {
			this.turn({ order: this.begun.order === "callees" ?
				"callers" : "callees" });
		} else if (event.key === "n" || event.key === "N") {
			this.goToHit(event.key === "n" ? 1 : -1);
		} else if (cost) {
			state.change({ cost });
		} else if (event.target === document.body ||
			   event.target === this.find("graph")) {
			this.graph.key(event);
		}
	}

	private start(): void {
		const { state, around } = this;
		const unzoom = this.find<HTMLButtonElement>("unzoom");

		this.legend();
		this.costs();
		this.layouts();
		this.orders();
		this.widths();
		details(this.find("details"), state, (node) =>
			this.graph.go(node));
		if (around.timeline !== false)
			timeline(this.find("timeline"), state);
		this.field.addEventListener("input", () => this.search());
		unzoom.addEventListener("click", () =>
			state.change({ zoomed: 0 }));
		document.addEventListener("keydown", (event) =>
			this.onKey(event), { signal: this.ends.signal });
		this.find("graph").addEventListener("contextmenu", (event) =>
			around.menu?.(event, state.tree,
				      this.graph.nodeOf(event)));
		this.search();
		state.listen(() => {
			unzoom.disabled = state.zoomed === 0;
			this.sayFound();
		});
		state.change({});
		this.graph.scrollToRoot();
		state.listen(() => around.changed?.(this.chosen()));
	}
}

export interface Flame {
	close(): void;
	focusSearch(): void;
}

/* Draws a tree into an element. Changing the order of calls builds another tree
 * and a new view. */
export function flame(root: HTMLElement, whole: Tree,
		      around: Surroundings = {}): Flame {
	const make = (chosen: Chosen): FlameView =>
		new FlameView(root, whole, chosen, around, (change) => {
			const next = { ...view.chosen(), zoom: "", ...change };

			view.close();
			view = make(next);
			around.changed?.(next);
		});
	let view = make(around.chosen ?? {});

	return { close: () => view.close(),
		 focusSearch: () => view.focusSearch() };
}
