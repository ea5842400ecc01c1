/*
 * A flame graph as a page: what belongs to what. The page stands by itself:
 * the tree is in it (flame_data.ts), and nothing is asked of anybody.
 */
import { COSTS, Cost, briefly, tree as readTree } from "./flame_data";
import { details } from "./flame_details";
import { Graph } from "./flame_graph";
import { State } from "./flame_state";
import { timeline } from "./flame_timeline";
import * as names from "./names";
import * as quantity from "./quantity";

const LEGEND = 14;	/* libraries */

function find<T extends HTMLElement>(id: string): T {
	return document.getElementById(id) as T;
}

const tree = readTree();
const state = new State(tree);
const graph = new Graph(state, find("graph"), find("tip"));
const field = find<HTMLInputElement>("search");

/* ---- what is chosen ---- */

function choice(group: string, value: string, text: string, more: string,
		act: () => void): HTMLInputElement {
	const label = document.createElement("label");
	const input = document.createElement("input");
	const figure = document.createElement("b");

	input.type = "radio";
	input.name = group;
	input.value = value;
	input.addEventListener("change", act);
	figure.textContent = more;
	label.append(input, text, figure);
	find(group).append(label);
	return input;
}

function costs(): void {
	const all = COSTS.map((cost): [Cost, HTMLInputElement] => [cost,
		choice("costs", cost, cost,
		       briefly(cost, tree.value(cost, 0)),
		       () => state.change({ cost }))]);

	state.listen(() => {
		for (const [cost, input] of all)
			input.checked = cost === state.cost;
	});
}

function turn(icicle: boolean): void {
	state.change({ icicle });
	graph.scrollToRoot();
}

function layouts(): void {
	const hanging = choice("layouts", "icicle", "icicle", "",
			       () => turn(true));
	const standing = choice("layouts", "flame", "flame", "",
				() => turn(false));

	state.listen(() => {
		hanging.checked = state.icicle;
		standing.checked = !state.icicle;
	});
}

/* ---- search ---- */

function search(): void {
	const wanted = names.pattern(field.value.trim());

	field.setAttribute("aria-invalid", String(wanted === undefined));
	if (wanted !== undefined)
		state.search(wanted);
	sayFound();
}

function sayFound(): void {
	const found = find("found");
	const sum = state.found();

	if (field.getAttribute("aria-invalid") === "true")
		found.textContent = "not a regular expression";
	else if (state.pattern === null)
		found.textContent = "";
	else
		found.textContent = `${quantity.count(state.hits.size)} ` +
			`found: ${briefly(state.cost, sum)}, ` +
			quantity.percent(sum, tree.value(state.cost, 0));
}

/* ---- around the graph ---- */

function about(): void {
	const { data } = tree;
	const unjudged = data.coverage.undecidable.allocations;
	const parts = [data.command, data.filters && `only${data.filters}`,
		unjudged && `${quantity.count(unjudged)} allocations are left ` +
		"out, of which nobody knows what the filters say",
		data.estimated && "estimated from a sample",
		data.folded && `${quantity.count(data.folded)} calls of less ` +
		`than a ${quantity.count(data.part)}th are in "(n smaller)"`];

	find("about").textContent = parts.filter(Boolean).join(" · ");
	find("about").title = data.command;
}

function legend(): void {
	const entries: [string, string][] = [
		["glue", "allocators, start-up"],
		...tree.data.libraries.slice(1, 1 + LEGEND)
			.map((name, i): [string, string] =>
				[`l${1 + i % 10}`, name])];

	for (const [kind, name] of entries) {
		const entry = document.createElement("span");

		entry.innerHTML = '<svg width="12" height="12">' +
			`<rect width="12" height="12" class="${kind}"/></svg>`;
		entry.append(name);
		find("legend").append(entry);
	}
}

function goToHit(step: 1 | -1): void {
	const hit = state.nextHit(state.selected, step);

	if (hit !== undefined)
		graph.go(hit);
}

/* Keys that work wherever the focus is, but for fields. */
function onKey(event: KeyboardEvent): void {
	const cost = COSTS[Number(event.key) - 1];

	if (event.key === "Escape") {
		field.value = "";
		search();
		state.change({ zoomed: 0, selected: 0 });
		find("graph").focus();
	} else if (event.ctrlKey || event.metaKey || event.altKey) {
		return;
	} else if (event.target === field) {
		if (event.key === "Enter")
			goToHit(event.shiftKey ? -1 : 1);
	} else if (event.key === "/") {
		field.focus();
		field.select();
		event.preventDefault();
	} else if (event.key === "i") {
		turn(!state.icicle);
	} else if (event.key === "n" || event.key === "N") {
		goToHit(event.key === "n" ? 1 : -1);
	} else if (cost) {
		state.change({ cost });
	} else if (event.target === document.body ||
		   event.target === find("graph")) {
		graph.key(event);
	}
}

function start(): void {
	const unzoom = find<HTMLButtonElement>("unzoom");

	about();
	legend();
	costs();
	layouts();
	details(find("details"), state, (node) => graph.go(node));
	timeline(find("timeline"), state);
	field.addEventListener("input", search);
	unzoom.addEventListener("click", () => state.change({ zoomed: 0 }));
	document.addEventListener("keydown", onKey);
	state.listen(() => {
		unzoom.disabled = state.zoomed === 0;
		sayFound();
	});
	state.change({});
	graph.scrollToRoot();
}

start();
