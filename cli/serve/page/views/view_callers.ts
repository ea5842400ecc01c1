/*
 * Callers and callees of a function: all functions on the left, and, for the
 * chosen one, its callers and callees with the allocations through each of
 * them.
 */
import { fitName } from "../../../page/names";
import { Pair } from "../address";
import { Figures, Frame, Report, Result, Row, results } from "../answers";
import { h } from "../dom";
import { ofFunction } from "../menu_entries";
import { showMenu } from "../menu";
import { QUICK } from "../own_peaks";
import * as rows from "../rows";
import { Call, sameCall } from "../server_call";
import { Column, Table } from "../table";
import { App, Part, Shown, View, chooser, emptyMessage, redraw } from "../view";
import * as words from "../as_command";

const MOST = 2000;		/* functions */
const SORTS = rows.SORTS.filter(([name]) =>
	["live", "peak", "total", "count", "temporary"].includes(name));

/* A call stack counts once for each caller or callee, even with recursion. */
function around(name: string, contexts = "contexts"): string {
	const side = (kind: string, column: string) =>
		`select '${kind}' as side, ${column} as function, ` +
		"sum(live_bytes) as live_bytes, sum(live_blocks) as " +
		"live_blocks, sum(peak_bytes) as peak_bytes, sum(total_bytes) " +
		"as total_bytes, sum(count) as count, sum(temporary) as " +
		"temporary from (select distinct context, " +
		`${column} from here) join costs using (context) ` +
		"group by 2";

	return "with here as materialized (select context, caller, callee from " +
		`stacks where function = '${name.replace(/'/g, "''")}'), ` +
		"costs as materialized (select context, live_bytes, " +
		"live_blocks, peak_bytes, total_bytes, count, temporary from " +
		`${contexts} where context in (select context from here)) ` +
		`${side("caller", "caller")} union all ` +
		side("callee", "callee");
}

function sortOf(app: App): string {
	return app.address.oneOf("sort", SORTS.map(([one]) => one));
}

/* In the order of the view; with filters as a condition on sums. */
function aroundIn(app: App, where = ""): string {
	const sort = sortOf(app);
	const sums = "(select context, live_bytes, live_blocks, peak_bytes, " +
		`total_bytes, count, temporary from sums${where})`;

	return `${around(app.address.get("of") ?? "", where ? sums :
		undefined)} order by side, ${rows.measure(sort)} desc`;
}

type Near = Figures & { function: string };

function near(result: Result, side: string, sort: string): Near[] {
	const value = rows.valueOf(sort);

	return result.rows.filter((row) => row.side === side)
		.map((row) => ({ own_peak_bytes: 0, lifetime_ns: 0, ...row,
			function: row.function === null ? side === "caller" ?
				"(none: outermost function)" :
				"(self: allocated directly)" :
				row.function }) as unknown as Near)
		.sort((a, b) => value(b) - value(a));
}

function frameOf(row: Row): Frame {
	const one = (row.within ?? row) as Frame;

	return { ...one, file: one.file ?? null, line: 0, inlined: false };
}

class Callers implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly all: Part;
	private readonly near: Part;
	private readonly list: Table<Row>;
	private readonly tables: [Table<Near>, Table<Near>];
	private readonly field: HTMLInputElement;
	private report: Report | undefined;
	private found: Row[] = [];
	private result: Result | undefined;
	private drawn = "";		/* sort key of the drawn result */
	private asked: Call | undefined;	/* for the callers and callees */

	constructor(element: HTMLElement, private readonly app: App) {
		this.all = new Part(app, "functions", "fills");
		this.near = new Part(app, "around", "fills near");
		this.list = new Table<Row>("functions", {
			sort: (column) => this.sort(column),
			open: (row) => app.go({ of: frameOf(row).function }),
			menu: (_, place, row) => showMenu(...place,
				fitName(words.name(frameOf(row)), 60),
				ofFunction(app, frameOf(row))) });
		this.tables = [this.table("callers"), this.table("callees")];
		this.field = h("input", { type: "search", spellcheck: "false",
			placeholder: "search functions",
			"aria-label": "search functions" });
		this.field.addEventListener("input", () =>
			app.address.amend({ search: this.field.value || null }));
		element.append(this.tools, h("div", { class: "split half" },
			this.all.element, this.near.element));
	}

	private sort(column: string): void {
		if (SORTS.some(([name]) => name === column))
			this.app.go({ sort: column });
	}

	private table(label: string): Table<Near> {
		return new Table<Near>(label, {
			sort: (column) => this.sort(column),
			open: (row) => row.function.startsWith("(") ||
				this.app.go({ of: row.function }),
			menu: (_, place, row) => showMenu(...place,
				fitName(row.function, 60), ofFunction(this.app, {
					function: row.function, named:
					!row.function.startsWith("("),
					file: null, line: 0, library: null,
					inlined: false })) });
	}

	private columns<R extends Figures>(name: Column<R>, whole: number):
			Column<R>[] {
		const sort = sortOf(this.app);

		return [name, ...rows.columns<R>(sort, whole).filter((column) =>
			SORTS.some(([one]) => one === column.name))];
	}

	private draw(): void {
		const { app, report } = this;
		const sort = sortOf(app);
		const sought = (app.address.get("search") ?? "").toLowerCase();
		const of = app.address.get("of");

		if (!report)
			return;
		this.found = report.rows.filter((row) => words.name(frameOf(row))
			.toLowerCase().includes(sought));
		if (report.rows.length === 0) {
			this.all.empty(...emptyMessage(app,
				"There is no allocation"));
			return;
		}
		if (!this.all.body.contains(this.list.element))
			this.all.body.replaceChildren(this.list.element);
		const whole = Math.max(...report.rows.map(rows.valueOf(sort)));
		this.list.show(this.columns<Row>({ name: "name",
			title: `Function (${this.found.length})`,
			cell: (row) => rows.name(row, "function") }, whole),
			this.found.length, (i) => this.found[i], sort);
		this.list.mark(this.found.findIndex((row) =>
			frameOf(row).function === of));
	}

	private drawNear(of: string, result: Result): void {
		const sort = sortOf(this.app);
		const titles = ["Called by", "Called, or allocated by"];

		this.near.body.replaceChildren(h("h2", { class: "near-title" },
			h("code", {}, of)), ...this.tables.map(({ element }) =>
			element));
		["caller", "callee"].forEach((side, i) => {
			const all = near(result, side, sort);
			const whole = Math.max(0, ...all.map(
				rows.valueOf(sort)));

			this.tables[i].show(this.columns<Near>({ name: "name",
				title: `${titles[i]} (${all.length})`,
				cell: (row) => h("code", {}, row.function) },
				whole), all.length, (k) => all[k], sort);
		});
	}

	update(): void {
		const { app, field } = this;
		const sort = sortOf(app);
		const of = app.address.get("of");
		const params: Pair[] = [["by", "within-function"],
			["sort", sort], ["top", String(MOST)], ...QUICK];

		if (document.activeElement !== field)
			field.value = app.address.get("search") ?? "";
		redraw(this.tools, chooser("by", SORTS, sort, (value) =>
			app.go({ sort: value })), field);
		const list = () => this.all.show(app.call("report", params),
			(value) => {
				this.report = value as Report;
				this.draw();
			});
		this.draw();
		/* Until one is chosen, functions take the full width. */
		this.near.element.hidden = of === undefined;
		this.all.element.classList.toggle("later", of !== undefined);
		if (of === undefined)
			list();
		else
			this.drawAround(of, sort, list);
	}

	/* The chosen function comes before the list of all. */
	private drawAround(of: string, sort: string, then: () => void): void {
		const call = this.app.call("sql", [], around(of));
		const draw = (value: unknown) => {
			this.result = results(value)[0];
			this.drawn = sort;
			this.drawNear(of, this.result);
		};

		if (sameCall(this.asked, call))
			then();
		this.near.show(call, (value) => {
			draw(value);
			then();
		}, then);
		this.asked = call;
		if (this.result && this.drawn !== sort)
			draw(this.result);
	}

	search(): void {
		this.field.focus();
		this.field.select();
	}

	close(): void {
		this.all.close();
		this.near.close();
	}
}

export const callers: View = {
	name: "callers", title: "Callers, callees", key: "c",
	hint: "Choose a function to see its callers and callees with the " +
		"allocations through each of them. Click to go to one.",
	command: (app) => app.address.get("of") === undefined ?
		words.command("report", [["by", "within-function"],
			["sort", sortOf(app)], ...app.address.filters()],
			app.trace()) :
		words.command("sql", app.address.filters(), app.trace(),
			      [aroundIn(app)]),
	sql: (app) => app.address.get("of") === undefined ?
		rows.asSql("within-function", sortOf(app),
			   app.address.filters()) :
		aroundIn(app, words.where("sums", app.address.filters())),
	open: (element, app) => new Callers(element, app),
};
