/*
 * The SQL console. A statement runs with the active filters and is in the URL;
 * rows of its result can become filters.
 */
import * as quantity from "../../../page/quantity";
import { Cell, Result, result as only, results } from "../answers";
import { exportSvg } from "../axis";
import { Stale, ask, url } from "../server_call";
import { Child, h } from "../dom";
import { copy } from "../menu_entries";
import { Items, menuOf, showMenu } from "../menu";
import { exactly } from "../options";
import { chart, isNumber } from "../sql_chart";
import { Editor } from "../sql_editor";
import { TableOf, history, placeOf, questions, remember, schema } from
	"../sql_words";
import { Column, Table } from "../table";
import { App, Part, Shown, View, choice, redraw } from "../view";
import * as words from "../as_command";

type Line = Record<string, Cell>;

const FIRST = `select function, human(sum(live_bytes)) as live,
    sum(live_blocks) as blocks
from sums group by 1 order by sum(live_bytes) desc limit 20`;

/* Columns of a result that have a filter. */
const FILTERS: Record<string, (value: string) => [string, string]> = {
	context: (value) => ["context", value],
	free_context: (value) => ["free-context", value],
	thread: (value) => ["thread", value],
	thread_name: (value) => ["thread", exactly(value)],
	function: (value) => ["function", exactly(value)],
	within_function: (value) => ["function", exactly(value)],
	library: (value) => ["library", exactly(value)],
	file: (value) => ["source", exactly(words.base(value))],
	arena: (value) => ["arena", value],
	fate: (value) => ["fate", value],
};

function shown(column: string, value: Cell): string {
	if (value === null)
		return "NULL";
	if (typeof value === "string")
		return value;
	if (column === "address")
		return `0x${value.toString(16)}`;
	if (/bytes|^size$|^usable$/.test(column))
		return quantity.size(value);
	return /_ns$/.test(column) ? quantity.time(value) :
		Number.isInteger(value) ? /^(context|thread|process|pid|line)$/
			.test(column) ? String(value) : quantity.count(value) :
			value.toPrecision(5);
}

function columnsOf(result: Result, raw: boolean): Column<Line>[] {
	return result.columns.map((name) => {
		const right = isNumber(result, name);
		const longest = Math.max(name.length, ...result.rows
			.slice(0, 200).map((row) => (raw ?
			String(row[name] ?? "NULL") :
			shown(name, row[name] ?? null)).length));
		const last = result.columns.filter((other) =>
			!isNumber(result, other))[0] === name;

		return { name, title: name, right,
			 wide: last && !right ? undefined :
			 Math.min(460, 26 + longest * 7.6),
			 cell: (row: Line): Child => h("span", { title:
				String(row[name] ?? "NULL"), class:
				row[name] === null ? "quiet" : "" },
				raw ? String(row[name] ?? "NULL") :
				shown(name, row[name] ?? null)) };
	});
}

/* Menu items that filter by one row, or by all of them. */
function filterItems(app: App, rows: Line[], columns: string[]): Items {
	return columns.filter((column) => column in FILTERS)
		.map((column) => {
			const values = Array.from(new Set(rows.map((row) =>
				row[column]).filter((value) =>
				value !== null && value !== "")), String);
			const all = values.slice(0, 100)
				.map((value) => FILTERS[column](value));
			const name = all[0]?.[0];

			return name !== undefined && { text: rows.length === 1 ?
				`Only ${column} ${values[0]}` :
				`Only these ${values.length}, by ${column}`,
				link: app.address.link({ [name]: all.map(
					([, value]) => value) }, "groups") };
		});
}

class Console implements Shown {
	private readonly editor: Editor;
	private readonly bar = h("div", { class: "tools" });
	private readonly tools = h("div", { class: "tools result-tools" });
	private readonly schema = h("div", { class: "beside schema" });
	private readonly part: Part;
	private readonly table: Table<Line>;
	private all: Result[] = [];
	private ran = "";

	constructor(element: HTMLElement, private readonly app: App) {
		this.editor = new Editor(() => this.run());
		this.part = new Part(app, "sql", "fills");
		this.table = new Table<Line>("result", {
			menu: (_, place, row) => showMenu(...place,
				"Make this a filter", [...filterItems(app, [row],
				this.current()?.columns ?? []), "line",
				{ text: "Copy the row", act: () => void copy(
					JSON.stringify(row), "row") }]) });
		element.append(h("div", { class: "split" },
			h("div", { class: "console" }, this.editor.element,
			  this.bar, this.part.element), this.schema));
		this.drawBar();
		void this.learn();
	}

	private async learn(): Promise<void> {
		try {
			const { value } = await ask("schema", {
				...this.app.plain("sql", [], ".schema"),
				isText: true });
			const tables = schema(String(value));

			this.editor.know(tables);
			this.drawSchema(tables);
		} catch (error) {
			if (!(error instanceof Stale))
				this.schema.hidden = true;
		}
	}

	private drawSchema(tables: TableOf[]): void {
		this.schema.replaceChildren(h("h2", {}, "Tables"),
			...tables.map(({ name, help, columns }) =>
				h("details", {}, h("summary", { title: help },
					h("code", {}, name)),
				h("p", { class: "quiet" }, help),
				h("ul", {}, ...columns.map((column) =>
					h("li", {}, h("button", {
						type: "button", title:
						column.help, click: () =>
						this.editor.insert(
							column.name) },
						h("code", {}, column.name),
						h("small", {},
						  column.help))))))));
	}

	private set(statement: string): void {
		this.editor.text = statement;
		this.run();
	}

	private drawBar(): void {
		const asked = h("button", { type: "button" }, "Examples");
		const before = h("button", { type: "button" }, "History");

		menuOf(asked, "", () => questions().map((one) => ({
			text: one.title, act: () => this.set(one.statement) })));
		menuOf(before, "", () => history().map((one) => ({
			text: one.replace(/\s+/g, " ").slice(0, 90),
			act: () => this.set(one) })));
		this.bar.replaceChildren(
			h("button", { type: "button", class: "primary", title:
				"Ctrl Enter", click: () => this.run() }, "Run"),
			asked, before, h("span", { class: "quiet" },
			h("kbd", {}, "Ctrl Enter"), " runs, ",
			h("kbd", {}, "Ctrl Space"), " completes; active " +
			"filters apply to all tables"));
	}

	private run(): void {
		const statement = this.editor.text.trim();

		if (statement === "")
			return;
		remember(statement);
		if (this.app.address.get("q") === statement) {
			this.part.forget();
			this.update();
		} else {
			this.app.go({ q: statement, n: null });
		}
	}

	private current(): Result | undefined {
		return this.all[Number(this.app.address.get("n") ?? 0)] ??
			this.all[0];
	}

	private drawTools(result: Result): void {
		const { app } = this;
		const as = app.address.oneOf("as", ["table", "chart"]);
		const raw = h("input", { type: "checkbox",
			checked: app.address.get("raw") === "1" });
		const more = h("button", { type: "button", class: "small" },
			       "Result as…");

		raw.addEventListener("change", () =>
			app.address.amend({ raw: raw.checked ? "1" : null }));
		menuOf(more, "", () => [
			{ text: "CSV", link: url(app.call("sql.csv",
				[["statement", this.ran]])) },
			{ text: "JSON", link: url(app.call("sql",
				[["statement", this.ran]])) },
			{ text: "Chart as SVG", act: () => {
				const made = chart(result);
				const there = this.part.body
					.querySelector<SVGSVGElement>(".chart");

				if (made && there)
					exportSvg(there, "chart.svg");
			} }, "line", ...filterItems(app, result.rows,
						    result.columns)]);
		redraw(this.tools, choice("result as", [["table", "Table"],
			["chart", "Chart"]], as, (value) =>
			app.go({ as: value === "chart" ? value : null })),
			this.all.length > 1 ? choice("statement",
				this.all.map((_, i): [string, string] =>
					[String(i), `${i + 1}`]),
				app.address.get("n") ?? "0", (value) =>
				app.go({ n: value })) : null,
			h("span", { class: "quiet" }, words.countText(
				result.rows.length, "row")),
			h("label", { class: "check" }, raw, "plain values"),
			h("span", { class: "grow" }), more);
	}

	private draw(): void {
		const { app } = this;
		const result = this.current();

		if (!result || !Array.isArray(result.rows))
			return;
		this.drawTools(result);
		if (result.rows.length === 0) {
			this.part.body.replaceChildren(this.tools, h("p",
				{ class: "state" }, "No rows."));
			return;
		}
		const made = app.address.get("as") === "chart" ?
			chart(result) : null;
		this.part.body.replaceChildren(this.tools, made ? made.element :
			app.address.get("as") === "chart" ? h("p",
				{ class: "state" },
				"There is no numeric column to draw.") :
			this.table.element);
		if (!made)
			this.table.show(columnsOf(result, app.address
				.get("raw") === "1"), result.rows.length,
				(i) => result.rows[i]);
	}

	update(): void {
		const { app } = this;
		const statement = app.address.get("q");

		if (statement === undefined) {
			if (!this.editor.text)
				this.editor.text = FIRST;
			this.part.empty("Run a statement, choose an example, " +
				"or query ", h("code", {}, "blocks"),
				": every single allocation.");
			return;
		}
		if (statement !== this.ran) {
			this.ran = statement;
			if (this.editor.text.trim() !== statement)
				this.editor.text = statement;
		}
		this.part.show(app.call("sql", [], statement), (value) => {
			this.all = typeof value === "object" ? results(value) :
				[only(value)];
			this.editor.mark(null);
			this.table.toTop();
			this.draw();
		}, (error) => this.editor.mark(placeOf(error.message,
						       statement)));
		if (this.all.length)
			this.draw();
	}

	search(): void {
		this.editor.focus();
	}

	close(): void {
		this.part.close();
	}
}

export const sql: View = {
	name: "sql", title: "SQL", key: "s",
	hint: "Every allocation is a row of “blocks”: run any query. " +
		"“Examples” has statements to start with; right-click a row " +
		"to filter by it.",
	command: (app) => words.command("sql", app.address.filters(),
		app.trace(), [app.address.get("q") ?? FIRST]),
	sql: (app) => [app.address.get("q") ?? FIRST,
		...app.address.filters().length ? ["-- with filters: " +
			words.command("sql", app.address.filters(), app.trace(),
				      ["…"])] : []].join("\n"),
	open: (element, app) => new Console(element, app),
};
