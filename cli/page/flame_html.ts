/*
 * A flame graph as a self-contained page: it includes the tree and makes no
 * network requests.
 */
import { Tree, tree as readTree } from "./flame_data";
import { flame } from "./flame_view";
import * as quantity from "./quantity";

function about({ data }: Tree): void {
	const unjudged = data.coverage.undecidable.allocations;
	const parts = [data.command, data.filters && `only${data.filters}`,
		unjudged && `${quantity.count(unjudged)} allocations are left ` +
		"out, since the filters cannot be decided for them",
		data.estimated && "estimated from a sample",
		data.folded && `${quantity.count(data.folded)} calls of less ` +
		`than a ${quantity.count(data.part)}th are in "(n smaller)"`];
	const line = document.getElementById("about") as HTMLElement;

	line.textContent = parts.filter(Boolean).join(" · ");
	line.title = data.command;
}

const tree = readTree();

about(tree);
flame(document.getElementById("flame") as HTMLElement, tree);
