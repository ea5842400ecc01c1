/*
 * The differential flame graph of the Diff view (cli/page/flame_view.ts).
 */
import { COSTS, Cost, Data, Tree } from "../../page/flame_data";
import { Chosen, Flame, flame } from "../../page/flame_view";
import { Call } from "./server_call";
import { h } from "./dom";
import { ofFunction } from "./menu_entries";
import { placeOf, showMenu } from "./menu";
import { App, Part } from "./view";
import { frame } from "./views/view_flame";

export class DiffGraph {
	private readonly part: Part;
	private flame: Flame | undefined;
	private drawn: Tree | undefined;
	private cost: Cost | undefined;
	private chosen: Chosen = {};

	constructor(private readonly app: App) {
		this.part = new Part(app, "diff-graph", "fills");
	}

	get element(): HTMLElement {
		return this.part.element;
	}

	/* If flame graphs lack the cost, use live. */
	show(call: Call, cost: string): void {
		const before = this.cost;

		this.cost = COSTS.find((one) => one === cost) ?? "live";
		this.part.show(call, (value) => this.draw(new Tree(value as Data)));
		if (this.drawn && this.cost !== before)
			this.draw(this.drawn);
	}

	private draw(tree: Tree): void {
		const root = h("div", { id: "flame" });

		this.flame?.close();
		this.drawn = tree;
		this.part.body.replaceChildren(root);
		this.flame = flame(root, tree, { timeline: false,
			chosen: { ...this.chosen, cost: this.cost },
			changed: (chosen) => {
				this.chosen = chosen;
				if (chosen.cost !== this.cost)
					this.app.go({ cost: chosen.cost ?? null });
			},
			menu: (event, from, node) => {
				if (node > 0 && !from.isFolded(node))
					showMenu(...placeOf(event,
						event.target as Element),
						from.name(node),
						ofFunction(this.app, frame(from,
							node)));
			} });
	}

	search(): void {
		this.flame?.focusSearch();
	}

	close(): void {
		this.flame?.close();
		this.part.close();
	}
}
