/*
 * Source: the lines of a function with their allocations, if the server finds
 * the source (`gnomon serve --source-root DIR`); else its instructions.
 */
import { Figures } from "../answers";
import { h } from "../dom";
import { copy } from "../menu_entries";
import { placeOf, showMenu } from "../menu";
import { exactly } from "../options";
import { NO_OWN_PEAKS } from "../own_peaks";
import * as rows from "../rows";
import { App, Part, Shown, View, choice, chooser, emptyMessage, redraw } from
	"../view";
import * as words from "../as_command";

const AROUND = 8;		/* context lines before and after */
const LONGEST = 2000;

const SORTS = rows.SORTS.filter(([name]) =>
	["live", "peak", "total", "count", "temporary"].includes(name));

interface Line extends Partial<Figures> {
	line: number;
	text: string | null;
	self?: Figures;
}

interface SourceFile {
	file: string;		/* "": unknown */
	path: string | null;
	newer: boolean;
	lines: Line[];
}

interface Instruction {
	address: number;
	module_offset: number;
	label?: number;
	text: string;
	file?: string | null;
	line?: number;
	returns_to?: number;
}

interface CallOf extends Figures {
	address: number;
}

interface Annotated extends Figures {
	function: string;
	library: string;
	files: SourceFile[];
	calls: CallOf[];
	code: { error: string | null; instructions: Instruction[] }[];
}

class Source implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly part: Part;
	private readonly field: HTMLInputElement;
	private all: Annotated[] = [];
	private sought = false;		/* the server looked for source files */
	private readonly others: Part[] = [];

	constructor(element: HTMLElement, private readonly app: App) {
		this.part = new Part(app, "source");
		this.field = h("input", { type: "search", spellcheck: "false",
			placeholder: "function", "aria-label": "function" });
		this.field.addEventListener("change", () =>
			app.go({ of: this.field.value.trim() || null }));
		element.append(this.tools, this.part.element);
	}

	private cost(): string {
		return this.app.address.oneOf("cost", SORTS.map(([name]) => name));
	}

	private drawTools(): void {
		const { app, field } = this;
		const code = app.address.get("code") === "1";

		if (document.activeElement !== field)
			field.value = app.address.get("of") ?? "";
		redraw(this.tools, field, chooser("by", SORTS, this.cost(),
			(value) => app.go({ cost: value })),
			choice("shown", [["lines", "source"],
				["code", "instructions"]], code ? "code" : "lines",
				(value) => app.go({ code: value === "code" ?
					"1" : null })));
	}

	/* A bar and two values before each line. */
	private figures(one: Partial<Figures> & { self?: Figures }, whole: number):
			HTMLElement[] {
		const value = rows.valueOf(this.cost());
		const unit = rows.FIGURES.find(({ name }) =>
			name === this.cost())?.unit ?? "bytes";
		const all = value({ live_bytes: 0, ...one } as Figures) || 0;
		const own = one.self ? value(one.self) : 0;
		const cell = h("td", { class: "bar-cell cost" },
			       all ? rows.figure(unit, all) : "");

		cell.style.setProperty("--share", `${all / whole * 100}%`);
		return [cell, h("td", { class: "cost" },
				own ? rows.figure(unit, own) : "")];
	}

	/* Add context lines; the answer has only lines with costs. */
	private around({ file, lines }: SourceFile, body: HTMLElement,
		       whole: number): void {
		const numbers = lines.map(({ line }) => line);
		const first = Math.max(1, Math.min(...numbers) - AROUND);
		const last = Math.max(...numbers) + AROUND;
		const part = new Part(this.app, `lines-${this.others.length}`,
				      "apart");

		if (last - first > LONGEST)
			return;
		this.others.push(part);
		part.show(this.app.plain("source", [["file", file],
			["from", String(first)], ["to", String(last)]]),
			(value) => {
				const known = new Map(lines.map((one) =>
					[one.line, one]));
				const all = (value as { lines: Line[] }).lines
					.map((one) => known.get(one.line) ?? one);

				body.replaceChildren(...all.map((one) =>
					this.line(file, one, whole)));
			});
		body.after(part.element);
	}

	private line(file: string, line: Line, whole: number): HTMLElement {
		return h("tr", { class: line.count ? "costs" : "",
				 contextmenu: (event: MouseEvent) =>
				 this.menu(event, file, line) },
			...this.figures(line, whole),
			h("td", { class: "number" }, line.line),
			h("td", {}, h("code", {}, line.text ?? "…")));
	}

	private table(heads: string[], lines: HTMLElement[]): HTMLElement {
		return h("table", { class: "source" }, h("thead", {}, h("tr", {},
			...heads.map((title) => h("th", { scope: "col" },
						  title)))),
			h("tbody", {}, ...lines));
	}

	private file(one: SourceFile, whole: number): HTMLElement {
		const { file, newer, lines } = one;
		const table = this.table(["with callees", "self", "line", ""],
			lines.map((line) => this.line(file, line, whole)));

		this.around(one, table.querySelector("tbody") as HTMLElement,
			    whole);
		return h("section", {}, h("h3", {}, h("code", {}, file),
			h("button", { type: "button", class: "small", click: () =>
				void copy(file, "path") }, "Copy path")),
			newer && h("p", { class: "quiet" },
				"The file is newer than the program: lines " +
				"may have moved."),
			table);
	}

	private menu(event: MouseEvent, file: string, { line }: Line): void {
		showMenu(...placeOf(event, event.target as Element),
			`${words.base(file)}:${line}`, [
			{ text: "Copy file and line", act: () =>
				void copy(`${file}:${line}`, "file and line") },
			{ text: "Only this file", link: this.app.address.link({
				source: `${words.base(file)}$` }, "groups") }]);
	}

	private code(one: Annotated, whole: number): HTMLElement {
		const costs = new Map(one.calls.map((call) =>
			[call.address, call]));

		return h("section", {}, h("h3", {}, "Instructions"),
			...one.code.map(({ error, instructions }) => error ?
				h("p", { class: "quiet" }, error) :
				this.table(["with callees", "self", "line", ""],
				instructions.map((step) => h("tr", {
					class: step.returns_to ? "costs" : "" },
					...this.figures(costs.get(
						step.returns_to ?? -1) ?? {},
						whole),
					h("td", { class: "number" },
					  step.line ?? ""),
					h("td", {}, h("code", {},
						step.text)))))));
	}

	/* Why no line is known. A trace may name any file of this machine: the
	 * server reads sources only below --source-root. */
	private unread({ files }: Annotated): HTMLElement {
		const recorded = files.find(({ file }) => file.startsWith("/") &&
			!file.startsWith("/usr/"))?.file ??
			files.find(({ file }) => file !== "")?.file;

		if (!recorded)
			return h("p", { class: "quiet" },
				"No lines are known: the program has no " +
				"debug information for this function.");
		if (this.sought)
			return h("p", { class: "quiet" }, h("code", {}, recorded),
				" is not below a directory given with ",
				h("code", {}, "--source-root"), ".");
		const directory = recorded.startsWith("/") ? recorded.slice(0,
			recorded.lastIndexOf("/")) || "/" : "DIR";
		const start = words.command("serve", [["source-root",
			directory]], this.app.trace());
		return h("div", { class: "quiet" }, h("p", {}, "The server does " +
			"not read ", h("code", {}, recorded), ": a trace may " +
			"name any file, so the server reads sources only " +
			"below --source-root. Restart it as"),
			h("p", {}, h("code", {}, start), " ", h("button", {
				type: "button", class: "small", click: () =>
				void copy(start, "command") }, "Copy command")));
	}

	private function(one: Annotated): HTMLElement {
		const whole = rows.valueOf(this.cost())(one) || 1;
		const known = one.files.filter(({ lines }) =>
			lines.some(({ text }) => text !== null));
		const wanted = this.app.address.get("code") === "1";

		return h("article", {}, h("h2", {}, h("code", {}, one.function),
			h("small", {}, ` ${one.library}`)),
			...wanted ? [] : known.map((file) =>
				this.file(file, whole)),
			!wanted && known.length === 0 && this.unread(one),
			(wanted || known.length === 0) && this.code(one, whole));
	}

	update(): void {
		const { app } = this;
		const of = app.address.get("of");

		this.drawTools();
		if (of === undefined) {
			this.part.forget();
			this.part.empty("Which function? Right-click on one " +
				"in any view, or type its name above.");
			return;
		}
		this.part.show(app.call("annotate", [["of", of],
			["cost", this.cost()], ["all", ""], NO_OWN_PEAKS]),
			(value) => {
				const answer = value as { rows: Annotated[];
					sources_sought: boolean };

				this.all = answer.rows;
				for (const file of answer.rows.flatMap((one) =>
					one.files))
					file.file ??= "";
				this.sought = answer.sources_sought;
				this.draw();
			});
		if (this.all.length)
			this.draw();
	}

	private draw(): void {
		for (const part of this.others.splice(0))
			part.close();
		if (this.all.length === 0)
			this.part.empty(...emptyMessage(this.app,
				"There is no allocation in that function"));
		else
			this.part.body.replaceChildren(h("div",
				{ class: "source-body" }, ...this.all.map(
				(one) => this.function(one))));
	}

	search(): void {
		this.field.focus();
		this.field.select();
	}

	close(): void {
		for (const part of this.others)
			part.close();
		this.part.close();
	}
}

export const source: View = {
	name: "source", title: "Source", key: "u",
	hint: "The allocations of each line of a function, self and with " +
		"callees; if the source is not found, its instructions.",
	command: (app) => words.command("annotate", app.address.filters(),
		app.trace(), [app.address.get("of") ?? "main"]),
	sql: (app) => rows.asSql("line", app.address.get("cost") ?? "live",
		[...app.address.filters(), ["function", exactly(
			app.address.get("of") ?? "main")]]),
	open: (element, app) => new Source(element, app),
};
