/*
 * More about the open row of a group: its largest call stacks, and the call
 * stacks that freed its blocks.
 */
import * as quantity from "../../page/quantity";
import { Pair } from "./address";
import { Cell, results } from "./answers";
import { h } from "./dom";
import { ofRow } from "./menu_entries";
import { placeOf, showMenu } from "./menu";
import * as side from "./side_pane";
import { App, Part } from "./view";

const MOST = 8;

const STACKS = `select context, function, file, line, blocks, bytes
from sums order by bytes desc limit ${MOST + 1}`;
const FREES = `select free_context as context, function(free_context) as
    function, count(*) as blocks, sum(size) as bytes
from blocks where free_context is not null
group by 1 order by blocks desc limit ${MOST + 1}`;

type Line = Record<string, Cell>;

/* A call stack whose frames are loaded when it is opened. */
function entry(app: App, line: Line, filter: string): HTMLElement {
	const context = Number(line.context);
	const title = String(line.function ?? "(code in no file)");
	const frames = h("div", {});
	const made = h("details", { class: "more-stack" }, h("summary", {},
		h("code", {}, title), h("small", {}, ` ${quantity.count(
			Number(line.blocks))} blocks, ${quantity.size(
			Number(line.bytes))}`)), frames);
	const part = new Part(app, `more-${filter}-${context}`);

	made.addEventListener("toggle", () => {
		if (!made.open)
			return;
		frames.replaceChildren(part.element);
		part.show(app.plain("sql", [], side.asksFrames(context)),
			  (value) => part.body.replaceChildren(side.stack(app,
				"", side.frames(results(value)[0]))));
	});
	made.addEventListener("contextmenu", (event) => {
		if ((event.target as Element).closest(".side-stack"))
			return;
		showMenu(...placeOf(event, made), title, filter === "context" ?
			ofRow(app, { context }, undefined) :
			[{ text: "Only blocks that it freed", link:
			   app.address.link({ [filter]: String(context) }) }]);
	});
	return made;
}

function list(app: App, title: string, lines: Line[], filter: string):
		HTMLElement {
	return h("section", {}, h("h3", {}, title),
		 ...lines.slice(0, MOST).map((line) => entry(app, line, filter)),
		 lines.length > MOST && h("p", { class: "quiet" },
			"… and smaller ones"));
}

export class GroupMore {
	readonly element: HTMLElement;
	private readonly stacks: Part;
	private readonly frees: Part;

	constructor(private readonly app: App) {
		this.stacks = new Part(app, "group-stacks");
		this.frees = new Part(app, "group-frees");
		this.element = h("div", {}, this.stacks.element,
				 this.frees.element);
	}

	/* Show the blocks of these filters, which replace active ones of the
	 * same name. `one`: there is only one call stack, already shown. */
	show(filters: Pair[], one: boolean): void {
		const { app, stacks, frees } = this;
		const params = [...filters, ...app.address.filters().filter(
			([name]) => !filters.some(([other]) => other === name))];
		const fill = (part: Part, title: string, filter: string,
			      min: number) => (value: unknown) => {
			const { rows } = results(value)[0];

			part.body.replaceChildren(...rows.length < min ? [] :
				[list(app, title, rows, filter)]);
		};

		stacks.element.hidden = one;
		if (!one)
			stacks.show(app.plain("sql", params, STACKS),
				fill(stacks, "Its call stacks", "context", 2));
		frees.show(app.plain("sql", params, FREES),
			   fill(frees, "Freed by", "free-context", 1));
	}

	close(): void {
		this.stacks.close();
		this.frees.close();
	}
}
