/*
 * The flame graph of `gnomon flamegraph` (cli/page/flame_view.ts), for the
 * selected blocks.
 */
import { COSTS, Data, Tree } from "../../../page/flame_data";
import { Chosen, Flame, flame } from "../../../page/flame_view";
import { Frame } from "../answers";
import { url } from "../server_call";
import { h } from "../dom";
import { ofFunction } from "../menu_entries";
import { Items, placeOf, showMenu } from "../menu";
import * as rows from "../rows";
import { App, Part, Shown, View, emptyMessage } from "../view";
import * as words from "../as_command";

const ORDERS = ["callers", "callees"] as const;

/* A node as the frame of a row. */
export function frame(tree: Tree, node: number): Frame {
	const [file, line] = tree.place(node).split(/:(\d+)/);

	return { function: tree.name(node), named: node > 0 &&
		 !tree.isFolded(node), file: file || null, line: Number(line) || 0,
		 library: tree.library(node) || null,
		 inlined: tree.isInlined(node) };
}

class FlameGraph implements Shown {
	private readonly part: Part;
	private flame: Flame | undefined;
	private of: Tree | undefined;
	private drawn = "";

	constructor(element: HTMLElement, private readonly app: App) {
		this.part = new Part(app, "flame", "fills");
		element.append(this.part.element);
	}

	private chosen(): Chosen {
		const { address } = this.app;
		const cost = COSTS.find((one) => one === address.get("cost"));

		return { cost, icicle: address.get("layout") !== "flame",
			 order: address.oneOf("order", ORDERS),
			 fold: address.get("fold") === "1",
			 search: address.get("search"),
			 zoom: address.get("zoom") };
	}

	private changed(chosen: Chosen): void {
		const known = { cost: chosen.cost ?? null,
			layout: chosen.icicle === false ? "flame" : null,
			order: chosen.order === "callees" ? "callees" : null,
			fold: chosen.fold ? "1" : null,
			search: chosen.search || null };
		const zoom = chosen.zoom || null;

		if ((this.app.address.get("zoom") ?? null) !== zoom)
			this.app.go({ ...known, zoom });
		else
			this.app.address.amend({ ...known, zoom });
	}

	private menu(event: MouseEvent, tree: Tree, node: number): void {
		const items: Items = node > 0 && !tree.isFolded(node) ?
			ofFunction(this.app, frame(tree, node)) : [];

		showMenu(...placeOf(event, event.target as Element), node > 0 ?
			 tree.name(node) : "", [...items, items.length > 0 &&
			"line", { text: "Export as SVG", link: url(
				this.app.call("export/flamegraph.svg")) }]);
	}

	private draw(tree: Tree): void {
		const root = h("div", { id: "flame" });

		this.flame?.close();
		this.of = tree;
		this.part.body.replaceChildren(root);
		this.drawn = JSON.stringify(this.chosen());
		this.flame = flame(root, tree, { chosen: this.chosen(),
			timeline: false,
			changed: (chosen) => {
				this.changed(chosen);
				this.drawn = JSON.stringify(this.chosen());
			},
			menu: (event, from, node) =>
				this.menu(event, from, node) });
	}

	update(): void {
		const now = JSON.stringify(this.chosen());

		this.part.show(this.app.call("flame", [["no-timeline", ""]]), (value) => {
			const tree = new Tree(value as Data);

			if (COSTS.every((cost) => tree.value(cost, 0) === 0)) {
				this.flame?.close();
				this.flame = this.of = undefined;
				this.part.empty(...emptyMessage(this.app,
							   "There is no allocation"));
			} else {
				this.draw(tree);
			}
		});
		/* Redraw after Back or Forward, not after the view's own
		 * changes. */
		if (this.of && this.drawn !== now)
			setTimeout(() => this.again(), 0);
	}

	private again(): void {
		if (this.of && this.drawn !== JSON.stringify(this.chosen()))
			this.draw(this.of);
	}

	search(): void {
		this.flame?.focusSearch();
	}

	close(): void {
		this.flame?.close();
		this.part.close();
	}
}

export const flameGraph: View = {
	name: "flame", title: "Flame graph", key: "f",
	hint: "Each box is a function, as wide as its cost; its callees are " +
		"below. Click to zoom; right-click for more actions.",
	command: (app) => words.command("flamegraph", app.address.filters(),
					app.trace()),
	sql: (app) => rows.asSql("stack", app.address.get("cost") ?? "live",
				 app.address.filters()),
	open: (element, app) => new FlameGraph(element, app),
};
