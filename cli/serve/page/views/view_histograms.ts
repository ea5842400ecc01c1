/*
 * Histograms of sizes and lifetimes, and a density plot of both.
 */
import { Cell, result } from "../answers";
import { exportSvg, figure } from "../axis";
import { Density, Pair, Range } from "../density";
import { h } from "../dom";
import { menuOf } from "../menu";
import { App, Part, Shown, View, choice, emptyMessage, redraw } from "../view";
import * as words from "../as_command";

const MEASURES: [string, string][] = [["blocks", "allocations"],
	["bytes", "bytes"], ["live_bytes", "live bytes"],
	["temporary", "temporary"]];

const statement = (where = "") => `select size_class, lifetime_class, sum(blocks) as blocks,
    sum(bytes) as bytes, sum(live_bytes) as live_bytes,
    sum(temporary) as temporary, sum(live_blocks) as live_blocks
from sums${where} group by 1, 2`;

/* Blocks that were never freed have no lifetime; those that were left out of
 * the trace may have neither size nor lifetime. */
const known = (row: Record<string, Cell>) => row.size_class !== null &&
	(row.lifetime_class !== null || Number(row.live_blocks) > 0);

function pairs(rows: Record<string, Cell>[], measure: string): Pair[] {
	return rows.filter(known).map((row) => ({ size: Number(row.size_class),
		lifetime: row.lifetime_class === null ? null :
			Number(row.lifetime_class),
		value: Number(row[measure] ?? 0) }))
		.filter(({ value }) => value > 0);
}

class Histograms implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly part: Part;
	private density: Density | undefined;
	private rows: Record<string, Cell>[] = [];
	private drawn = "";		/* the drawn measure */

	constructor(element: HTMLElement, private readonly app: App) {
		this.part = new Part(app, "histograms");
		element.append(this.tools, this.part.element);
	}

	private measure(): string {
		return this.app.address.oneOf("measure",
			MEASURES.map(([name]) => name));
	}

	private brush({ sizes, lifetimes }: Range): void {
		const [shortest, longest] = lifetimes ?? [-1, -1];

		this.app.go({
			"size-min": sizes ? sizes[0] : null,
			"size-max": sizes ? sizes[1] : null,
			"lifetime-min": lifetimes && shortest >= 0 ?
				`${shortest}ns` : null,
			"lifetime-max": lifetimes && longest >= 0 ?
				`${longest}ns` : null,
			fate: lifetimes ? longest >= 0 ? "freed" :
				shortest < 0 ? "live" : null : null });
	}

	private drawTools(): void {
		const { app } = this;
		const save = h("button", { type: "button", class: "small" },
			       "Picture as…");

		menuOf(save, "", () => [{ text: "SVG", act: () =>
			this.density && exportSvg(this.density.chart,
						  "sizes.svg") },
			{ text: "In the SQL console", link: app.address.link(
				{ q: statement() }, "sql") },
			{ text: "As a table of sizes", link: app.address.link(
				{ by: "size-class", sort: "count" },
				"groups") }]);
		redraw(this.tools, choice("measure", MEASURES, this.measure(),
			(value) => app.go({ measure: value })),
			h("span", { class: "grow" }), save);
	}

	private draw(): void {
		const measure = this.measure();
		const all = pairs(this.rows, measure);
		const unit = measure.endsWith("bytes") ? "bytes" : "count";
		const unknown = this.rows.filter((row) => !known(row))
			.reduce((sum, row) => sum + Number(row[measure] ?? 0), 0);

		if (all.length === 0) {
			this.part.empty(...emptyMessage(this.app, unknown > 0 ?
				"There is no block of known size and lifetime" :
				"There is no block"));
			return;
		}
		this.density = new Density((value) => figure(unit, value),
					   (range) => this.brush(range));
		this.density.show(all);
		this.part.body.replaceChildren(this.density.element,
			unknown > 0 ? h("p", { class: "said-line" },
				"Not shown, as sizes or lifetimes are " +
				`unknown: ${figure(unit, unknown)}`) : "");
	}

	update(): void {
		this.drawTools();
		this.part.show(this.app.call("sql", [], statement()), (value) => {
			this.rows = result(value).rows;
			this.drawn = this.measure();
			this.draw();
		});
		if (this.rows.length && this.drawn !== this.measure()) {
			this.drawn = this.measure();
			this.draw();
		}
	}

	close(): void {
		this.part.close();
	}
}

export const histograms: View = {
	name: "histograms", title: "Sizes, lifetimes", key: "h",
	hint: "Sizes and lifetimes of blocks, by powers of two: darker " +
		"fields contain more. Drag over fields to filter by them.",
	command: (app) => words.command("sql", app.address.filters(),
		app.trace(), [statement()]),
	sql: (app) => statement(words.where("sums", app.address.filters())),
	open: (element, app) => new Histograms(element, app),
};
