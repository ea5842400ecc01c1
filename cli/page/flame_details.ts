/*
 * The pane for the selected box: its values of all costs, and its stack.
 */
import { COSTS, Column, Cost, Tree, briefly, isBytes, signed } from
	"./flame_data";
import { State } from "./flame_state";
import * as quantity from "./quantity";

const BLOCKS: Partial<Record<Cost, Column>> = {
	live: "live_blocks", peak: "peak_blocks"
};

function element(tag: string, text = "", kind = ""): HTMLElement {
	const made = document.createElement(tag);

	made.textContent = text;
	if (kind)
		made.className = kind;
	return made;
}

function where(tree: Tree, n: number): string {
	return [tree.place(n), tree.library(n),
		tree.isInlined(n) ? "(inlined)" : ""]
		.filter((part) => part !== "").join(" ");
}

function row(tree: Tree, n: number, cost: Cost): HTMLElement {
	const line = element("tr");
	const value = tree.value(cost, n), own = tree.own(cost, n);
	const blocks = BLOCKS[cost];
	const here = element("td", briefly(cost, value));

	line.dataset.cost = cost;
	if (isBytes(cost) && value > 0)
		here.append(element("small", quantity.count(value) +
			" bytes" + (blocks ? ` in ${quantity.count(
			tree.value(blocks, n))} blocks` : "")));
	line.append(element("th", cost), here,
		    element("td", quantity.percent(value,
						   tree.value(cost, 0))),
		    element("td", own > 0 ? briefly(cost, own) : "–"));
	return line;
}

function comparedRow(tree: Tree, n: number, cost: Cost): HTMLElement {
	const line = element("tr");
	const by = tree.difference(cost, n);

	line.dataset.cost = cost;
	line.append(element("th", cost),
		    element("td", briefly(cost, tree.value(`before_${cost}`, n))),
		    element("td", briefly(cost, tree.value(cost, n))),
		    element("td", by === 0 ? "–" : signed(cost, by)));
	return line;
}

function figures(tree: Tree, n: number, shown: Cost): HTMLElement {
	const table = element("table");
	const head = element("tr");

	for (const title of tree.compares ? ["", "before", "after", "change"] :
	     ["", "with callees", "share", "self"])
		head.append(element("th", title));
	table.append(head);
	for (const cost of COSTS) {
		const line = (tree.compares ? comparedRow : row)(tree, n, cost);

		line.classList.toggle("shown", cost === shown);
		table.append(line);
	}
	return table;
}

/* From the selected box outward; a click selects a frame. */
function stack(state: State, go: (node: number) => void): HTMLElement {
	const { tree } = state;
	const list = element("ol", "", "stack");

	for (let n = state.selected; n !== 0; n = tree.parent[n]) {
		const line = element("li");
		const button = element("button", tree.name(n));
		const at = n;

		button.addEventListener("click", () => go(at));
		line.append(button, element("small", where(tree, n)));
		list.append(line);
	}
	return list;
}

/* What the whole graph shows: only file names if they distinguish the sides. */
function sides({ data: { diff } }: Tree): string {
	if (!diff)
		return "The whole recording. ";
	const [before, after] = [diff.before, diff.after].map((name) =>
		name.replace(/^.*\//, ""));

	return before === after ? `${diff.before} → ${diff.after}. ` :
		`${before} → ${after}. `;
}

export function details(pane: HTMLElement, state: State,
			go: (node: number) => void): void {
	let shown = "";

	function fill(): void {
		const { tree, selected: n } = state;
		const now = `${n} ${state.cost}`;

		if (now === shown)
			return;
		shown = now;
		pane.replaceChildren(element("h2", tree.name(n)));
		if (tree.isFolded(n))
			pane.append(element("p", "Functions that are less " +
				`than a ${quantity.count(tree.data.part)}th ` +
				"of every cost, in sum.", "where"));
		else if (n === 0)
			pane.append(element("p", sides(tree) +
				"Click a box for its stack.", "where"));
		else
			pane.append(element("p", where(tree, n), "where"));
		pane.append(figures(tree, n, state.cost));
		if (n !== 0)
			pane.append(element("h3", "Stack, innermost first"),
				    stack(state, go));
	}
	state.listen(fill);
	fill();
}
