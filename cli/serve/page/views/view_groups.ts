/*
 * Groups: the rows of a report by any key, with all measures, optionally with
 * sparklines over time. The open row shows its stack.
 */
import { fitName } from "../../../page/names";
import * as quantity from "../../../page/quantity";
import { Pair } from "../address";
import { Report, Row, Step } from "../answers";
import { spark } from "../axis";
import { url } from "../server_call";
import { h } from "../dom";
import { GroupMore } from "../group_more";
import { ofRow } from "../menu_entries";
import { Items, menuOf, showMenu } from "../menu";
import * as moments from "../moments";
import { Reports } from "../own_peaks";
import * as rows from "../rows";
import * as side from "../side_pane";
import { Column, Table } from "../table";
import { App, Part, Shown, View, chooser, emptyMessage, redraw } from "../view";
import * as words from "../as_command";

const MOST = 1000;		/* rows */
const STEPS = 48;

const curve: Record<string, (step: Step) => number> = {
	total: (step) => step.allocated_bytes, count: (step) => step.allocations,
	temporary: (step) => step.temporary, freed: (step) => step.freed_bytes };

function bySort(app: App): [string, string] {
	const by = app.address.get("by") ?? "site";
	const sort = app.address.oneOf("sort", ["live",
		...rows.SORTS.map(([name]) => name)]);

	return [by, sort];
}

function isOverTime(app: App): boolean {
	return app.address.get("spark") === "1" && !moments.isOne(app.address);
}

function params(app: App): Pair[] {
	const [by, sort] = bySort(app);
	const all: Pair[] = [["by", by], ["sort", sort], ["top", String(MOST)]];

	return isOverTime(app) ? [...all, ["timeline", ""],
		["steps", String(STEPS)]] : all;
}

class Groups implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly reports: Reports;
	private readonly part: Part;
	private readonly table: Table<Row>;
	private readonly beside = h("div", { class: "beside", hidden: true });
	private readonly field: HTMLInputElement;
	private report: Report | undefined;
	private found: Row[] = [];
	private readonly more: GroupMore;

	constructor(element: HTMLElement, private readonly app: App) {
		this.more = new GroupMore(app);
		this.reports = new Reports(app, "groups", "fills");
		this.part = this.reports.part;
		this.table = new Table<Row>("groups", {
			sort: (column) => app.go({ sort: column, open: null }),
			open: (row) => app.address.amend({
				open: this.number(row) }),
			menu: (_, place, row) => showMenu(...place,
				fitName(this.label(row), 60),
				this.items(row)) });
		this.field = h("input", { type: "search", spellcheck: "false",
			placeholder: "search rows", "aria-label": "search rows" });
		this.field.addEventListener("input", () => {
			app.address.amend({ search: this.field.value || null });
		});
		element.append(this.tools, this.reports.peaks.element,
			h("div", { class: "split" }, this.part.element,
			  this.beside));
	}

	private label(row: Row): string {
		const name = rows.name(row, bySort(this.app)[0]);

		return name instanceof Node ? name.textContent ?? "" :
			String(name);
	}

	private number(row: Row): number {
		return this.report?.rows.indexOf(row) ?? -1;
	}

	private items(row: Row): Items {
		const { app } = this;
		const [by] = bySort(app);
		const filters = rows.filtersOf(row, by);
		const changes = Object.fromEntries(filters);
		const without = app.address.without(filters);

		return [filters.length > 0 && { text: "Only this row", link:
				app.address.link({ ...changes, open: null }) },
			without && { text: "All but this row", link:
				app.address.link({ ...without, open: null }) },
			filters.length > 0 && by !== "stack" && {
				text: "Its call stacks", link: app.address.link(
				{ ...changes, by: "stack", open: null }) },
			filters.length > 0 && { text: "As a flame graph",
				link: app.address.link(changes, "flame") },
			...ofRow(app, row, row.stack)];
	}

	private drawTools(): void {
		const { app } = this;
		const [by, sort] = bySort(app);
		const on = app.address.get("spark") === "1";
		const known = rows.BY.some(([name]) => name === by);
		const check = h("input", { type: "checkbox", checked: on,
			disabled: moments.isOne(app.address) });
		const save = h("button", { type: "button", class: "small" },
			       "Rows as…");

		check.addEventListener("change", () =>
			app.go({ spark: check.checked ? "1" : null }));
		menuOf(save, "Rows as", () => [
			{ text: "CSV", link: url(app.call("report.csv",
				[["by", by], ["sort", sort]])) },
			{ text: "JSON", link: url(app.call("report",
							   params(app))) }]);
		if (document.activeElement !== this.field)
			this.field.value = app.address.get("search") ?? "";
		redraw(this.tools,
			chooser("a row is a", known ? rows.BY :
				[...rows.BY, [by, by]], by, (value) =>
				app.go({ by: value, open: null })),
			chooser("largest by", rows.SORTS, sort, (value) =>
				app.go({ sort: value, open: null })),
			h("label", { class: "check" }, check, "over time"),
			this.field, h("span", { class: "grow" }), save);
	}

	private columns(): Column<Row>[] {
		const [by, sort] = bySort(this.app);
		const of = curve[sort] ?? ((step: Step) => step.live_bytes);
		const value = rows.valueOf(sort);
		const whole = Math.max(0, ...this.found.map(value));
		const name: Column<Row> = { name: "name", title:
			rows.BY.find(([word]) => word === by)?.[1] ?? by,
			cell: (row) => rows.name(row, by) };
		const lines: Column<Row> = { name: "time", title: "Over time",
			wide: 112, help: "live memory, or the allocations if " +
			"rows are sorted by these", cell: (row) =>
			row.timeline ? spark(row.timeline.map(of)) : "" };

		return [name, ...isOverTime(this.app) ? [lines] : [],
			...rows.columns<Row>(sort, whole)];
	}

	private draw(): void {
		const { app, report } = this;
		const sought = (app.address.get("search") ?? "").toLowerCase();

		if (!report)
			return;
		this.found = report.rows.filter((row) => sought === "" ||
			this.label(row).toLowerCase().includes(sought) ||
			row.stack?.some((frame) => words.name(frame)
				.toLowerCase().includes(sought)));
		if (this.found.length === 0) {
			this.part.empty(...sought ? [`No row has “${sought}”.`] :
				emptyMessage(app, "There is no allocation"));
			this.beside.hidden = true;
			return;
		}
		if (!this.part.body.contains(this.table.element))
			this.part.body.replaceChildren(this.table.element,
						       this.foot());
		else
			this.part.body.lastElementChild?.replaceWith(
				this.foot());
		this.table.show(this.columns(), this.found.length,
				(i) => this.found[i], bySort(app)[1]);
		this.open();
	}

	private foot(): HTMLElement {
		const { found, report } = this;
		const all = report?.rows.length ?? 0;

		return h("p", { class: "foot" }, found.length < all ?
			`${quantity.count(found.length)} of ` +
			`${quantity.count(all)} rows` :
			words.countText(all, "row") +
			(all >= MOST ? ", the largest ones" : ""));
	}

	private open(): void {
		const { app, report, beside } = this;
		const at = Number(app.address.get("open") ?? -1);
		const row = report?.rows[at];

		beside.hidden = row === undefined;
		this.table.mark(row ? this.found.indexOf(row) : -1);
		if (!row)
			return;
		const [by, sort] = bySort(app);
		const of = curve[sort] ?? ((step: Step) => step.live_bytes);
		const filters = rows.filtersOf(row, by);

		beside.replaceChildren(side.pane(rows.name(row, by), () =>
			app.address.amend({ open: null }),
			() => this.items(row),
			row.timeline && h("div", { class: "side-spark" },
				spark(row.timeline.map(of), 330, 60)),
			side.figures(row),
			row.stack?.length ? side.stack(app, row.stacks &&
				row.stacks > 1 ? `One of its ${quantity.count(
				row.stacks)} call stacks, innermost first` :
				"Call stack, innermost first", row.stack) :
			null, filters.length > 0 && this.more.element));
		if (filters.length > 0)
			this.more.show(filters, row.stacks === 1 ||
				       by === "stack");
	}

	update(): void {
		this.drawTools();
		this.reports.show(params(this.app), bySort(this.app)[1],
			(report) => {
				this.report = report;
				if (bySort(this.app)[0] === "stack")
					rows.tellApart(report.rows);
				this.draw();
			});
		this.draw();
	}

	search(): void {
		this.field.focus();
		this.field.select();
	}

	close(): void {
		this.reports.close();
		this.more.close();
	}
}

export const groups: View = {
	name: "groups", title: "Groups", key: "r",
	hint: "Who holds, held and churns memory: a row for each site, call " +
		"stack, library, thread, size … Click a row for its stack, " +
		"click a heading to sort, right-click for more actions.",
	command: (app) => words.command("report", [["by", bySort(app)[0]],
		["sort", bySort(app)[1]], ...app.address.filters()],
		app.trace()),
	sql: (app) => rows.asSql(...bySort(app), app.address.filters()),
	open: (element, app) => new Groups(element, app),
};
