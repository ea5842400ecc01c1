/*
 * Changes between another trace and this one, or between two moments of this
 * one: rows that are new, gone, grown or shrunk, or a flame graph. Sums without
 * stacks at two moments come from SQL, which uses the index.
 */
import { fitName } from "../../../page/names";
import * as quantity from "../../../page/quantity";
import { Pair } from "../address";
import { Figures, Frame, Row, result } from "../answers";
import { Call } from "../server_call";
import { DiffGraph } from "../diff_graph";
import { Child, h } from "../dom";
import { ofFunction } from "../menu_entries";
import { showMenu } from "../menu";
import * as moments from "../moments";
import * as rows from "../rows";
import * as side from "../side_pane";
import { Column, Table } from "../table";
import { App, Part, Shown, View, choice, chooser, redraw } from "../view";
import * as words from "../as_command";

const COSTS: [string, string][] = [["live", "live bytes"],
	["peak", "bytes at the peak"], ["total", "total bytes"],
	["count", "allocations"], ["temporary", "temporary blocks"],
	["freed", "freed bytes"]];
/* Functions stay the same from build to build; lines of sites and stacks
 * move. */
const BY: [string, string][] = [["function", "function"], ["site", "site"],
	["stack", "call stack"], ["file", "file"], ["line", "line"],
	["library", "library"]];
/* For two moments: the keys that use SQL, then those with stacks. */
const BY_SQL: [string, string][] = [["function", "function"],
	["file", "file"], ["library", "library"],
	["thread_name", "thread"], ["within_function", "any function"]];
const BY_MOMENTS: [string, string][] = [...BY_SQL, ["site", "site"],
	["stack", "call stack"], ["line", "line"]];
/* Filters that the two moments replace. */
const OF_TIME = ["from", "to", "alive-at", "alive-at-2"];
const STATES = ["new", "gone", "grown", "shrunk"];
const MOST = 1000;

interface Change {
	state: string;
	before: number;
	after: number;
	row: Row;
	name: string;
	stack: Frame[];
	site?: Frame;
	figures?: Figures;
}

interface DiffRow extends Record<string, unknown> {
	state: string;
	before_value: number;
	after_value: number;
	after: Figures;
	stack?: Frame[];
	site?: number;
}

function stateOf(before: number, after: number): string {
	if (before === 0)
		return "new";
	return after === 0 ? "gone" : after > before ? "grown" : "shrunk";
}

function ofMoments(column: string, before: string, after: string, and = ""):
		string {
	const quoted = (text: string) => `'${text.replace(/'/g, "''")}'`;

	return `select ${column} as name, sum(before) as before,
    sum(after) as after from (
    select ${column}, live_bytes as before, 0 as after from sums
        where alive_at = ${quoted(before)}${and}
    union all
    select ${column}, 0, live_bytes from sums
        where alive_at = ${quoted(after)}${and})
group by 1 having sum(before) <> sum(after)
order by abs(sum(after) - sum(before)) desc limit ${MOST}`;
}

class Diff implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly part: Part;
	private readonly table: Table<Change>;
	private readonly graph: DiffGraph;
	private readonly split: HTMLElement;
	private readonly beside = h("div", { class: "beside", hidden: true });
	private all: Change[] = [];
	private drawn = false;

	constructor(element: HTMLElement, private readonly app: App) {
		this.part = new Part(app, "diff", "fills");
		this.table = new Table<Change>("changes", {
			open: (change, index) => {
				this.table.mark(index);
				this.open(change);
			},
			menu: (_, place, change) => showMenu(...place,
				fitName(change.name, 60),
				this.items(change)) });
		this.graph = new DiffGraph(app);
		this.split = h("div", { class: "split" }, this.part.element,
			       this.beside);
		element.append(this.tools, this.split, this.graph.element);
	}

	private items(change: Change): ReturnType<typeof ofFunction> {
		const by = this.by();
		const filters = Object.fromEntries(rows.filtersOf(change.row,
			by === "thread_name" ? "" : by.replace("_", "-")));

		return [Object.keys(filters).length > 0 && {
				text: "Only this row, in Groups",
				link: this.app.address.link(filters, "groups") },
			...change.site ?
			ofFunction(this.app, change.site) : []];
	}

	private isOfMoments(): boolean {
		return this.app.address.get("of") === "moments" ||
			this.app.traces.length < 2;
	}

	private by(): string {
		return this.app.address.oneOf("by", (this.isOfMoments() ?
			BY_MOMENTS : BY).map(([name]) => name));
	}

	/* The id of the older trace; "": the URL names one that is not
	 * served. */
	private old(): string {
		const { app } = this;
		const wanted = app.address.get("old");

		return app.traces.find(({ id, name }) => wanted === undefined ?
			id !== app.trace().id :
			id === wanted || name === `${wanted}.trace`)?.id ?? "";
	}

	private isGraph(): boolean {
		return this.app.address.get("as") === "graph";
	}

	private isOfSql(): boolean {
		return this.isOfMoments() && BY_SQL.some(([name]) =>
			name === this.by());
	}

	private cost(): string {
		const costs = COSTS.map(([name]) => name);

		/* Flame graphs have no freed bytes. */
		return this.isOfSql() && !this.isGraph() ? "live" :
			this.app.address.oneOf("cost", this.isGraph() ?
				costs.filter((name) => name !== "freed") : costs);
	}

	private moments(): [string, string] {
		return [this.app.address.get("before") ?? "50%",
			this.app.address.get("after") ?? "100%"];
	}

	/* A call with the two sides and the filters. */
	private compare(what: string, params: Pair[]): Call {
		const { app } = this;
		const [from, to] = this.moments();
		const filters = app.address.filters();

		return this.isOfMoments() ? app.plain(what, [...params,
			["from", from], ["to", to], ...filters.filter(([name]) =>
				!OF_TIME.includes(name))]) :
			{ path: what, params: [["old", this.old()],
				["new", app.trace().id], ...params, ...filters] };
	}

	private call(): Call {
		return this.isOfSql() ? this.app.call("sql", [], ofMoments(
			this.by(), ...this.moments())) :
			this.compare("diff", [["by", this.by()],
				["cost", this.cost()], ["top", String(MOST)]]);
	}

	private take(value: unknown): void {
		if (this.isOfSql()) {
			this.all = result(value).rows.map((row) => {
				const before = Number(row.before);
				const after = Number(row.after);

				return { before, after, stack: [],
					 state: stateOf(before, after),
					 name: String(row.name ?? "(unknown)"),
					 row: { [this.by().replace("within_",
						"")]: row.name } as unknown as Row };
			});
			return;
		}
		const by = this.by();
		const all = (value as { rows: DiffRow[] }).rows;

		if (by === "stack")
			rows.tellApart(all as unknown as Row[]);
		this.all = all.map((row) => {
			const shown = rows.name(row as unknown as Row, by);

			return { state: row.state, before: row.before_value,
				 after: row.after_value, figures: row.after,
				 row: row as unknown as Row,
				 stack: row.stack ?? [], site: words.site(row),
				 name: shown instanceof
				 Node ? shown.textContent ?? "" : String(shown) };
		});
	}

	/* ---- drawing ---- */

	private moment(name: "before" | "after", on: string): HTMLElement {
		const input = h("input", { value: moments.readable(on), size: 9,
			"aria-label": name, spellcheck: "false" });

		input.addEventListener("change", () => {
			if (input.value.trim() && input.value !==
			    moments.readable(on))
				this.app.go({ [name]: input.value.trim() });
		});
		return h("label", { class: "chooser" }, h("span", {}, name),
			 input);
	}

	private drawTools(): void {
		const { app } = this;
		const ofTime = this.isOfMoments();
		const [before, after] = this.moments();
		const others = app.traces.filter(({ id }) =>
			id !== app.trace().id);

		redraw(this.tools, app.traces.length > 1 ? choice("what", [
			["traces", "two traces"], ["moments", "two moments"]],
			ofTime ? "moments" : "traces", (value) => app.go({
				of: value === "moments" ? value : null,
				by: null })) : null,
			...ofTime ? [this.moment("before", before),
				     this.moment("after", after)] :
			[chooser("before", [...this.old() ? [] :
				[["", "not served"]] as [string, string][],
				...others.map(({ id, name }):
				[string, string] => [id, name])], this.old(),
				(value) => app.go({ old: value }))],
			this.isOfSql() || this.isGraph() ? null :
			chooser("compare", COSTS, this.cost(), (value) =>
				app.go({ cost: value })),
			this.isGraph() ? null : chooser("by", ofTime ?
				BY_MOMENTS : BY, this.by(), (value) =>
				app.go({ by: value, state: null })),
			this.isGraph() ? null : this.states(),
			choice("shown as", [["table", "table"],
				["graph", "flame graph"]],
				this.isGraph() ? "graph" : "table", (value) =>
				app.go({ as: value === "graph" ? value : null })));
	}

	private states(): HTMLElement {
		const on = this.app.address.get("state") ?? "all";

		return choice("which", [["all", `all ${this.all.length}`],
			...STATES.map((state): [string, string] => [state,
				`${state} ${this.all.filter((one) =>
					one.state === state).length}`])], on,
			(value) => this.app.go({ state: value === "all" ? null :
						 value }));
	}

	private figure(value: number): string {
		return ["count", "temporary"].includes(this.cost()) ?
			quantity.count(value) : quantity.size(value);
	}

	private columns(max: number): Column<Change>[] {
		const number = (name: string, title: string,
				of: (change: Change) => Child): Column<Change> =>
			({ name, title, wide: 96, right: true, cell: of });

		return [{ name: "name", title: BY.find(([name]) =>
				name === this.by())?.[1] ?? "name",
			  cell: ({ row, name }) => this.isOfSql() ?
			  h("code", {}, name) : rows.name(row, this.by()) },
			{ name: "state", title: "", wide: 80,
			  cell: ({ state }) => h("span", { class:
				`state-${state}` }, state) },
			number("before", "Before", ({ before }) =>
				before ? this.figure(before) : "–"),
			number("after", "After", ({ after }) =>
				after ? this.figure(after) : "–"),
			{ ...number("difference", "Change ↓", (change) => {
				const by = change.after - change.before;

				return h("b", { class: by > 0 ? "more" : "less" },
					by > 0 ? "+" : "−",
					this.figure(Math.abs(by)));
			}), wide: 120, share: ({ before, after }) =>
				Math.abs(after - before) / max }];
	}

	private draw(): void {
		const state = this.app.address.get("state");
		const shown = this.all.filter((one) => !state ||
			one.state === state);
		const max = Math.max(1, ...shown.map(({ before, after }) =>
			Math.abs(after - before)));

		this.drawTools();
		if (shown.length === 0) {
			this.part.empty(state ? `Nothing is ${state}.` :
				"Nothing changed.");
			return;
		}
		if (!this.part.body.contains(this.table.element))
			this.part.body.replaceChildren(this.table.element);
		this.table.show(this.columns(max), shown.length,
				(i) => shown[i], "difference");
	}

	private open(change: Change): void {
		this.beside.hidden = change.stack.length === 0;
		this.beside.replaceChildren(side.pane(change.name, () => {
			this.beside.hidden = true;
			this.table.mark(-1);
		}, () => this.items(change),
			change.figures && h("h3", {}, "Afterwards"),
			change.figures && side.figures(change.figures),
			side.stack(this.app, "Call stack, innermost first",
				   change.stack)));
	}

	command(): string {
		const { app } = this;
		const [before, after] = this.moments();
		const old = app.traces.find(({ id }) => id === this.old());
		const of = this.isGraph() ? "flamegraph" : "diff";
		const what: Pair[] = [...this.isGraph() ?
			[["diff", ""]] as Pair[] : this.isOfSql() ? [] :
			[["by", this.by()]] as Pair[], ["cost", this.cost()]];
		const filters = app.address.filters();

		return this.isOfMoments() || !old ? words.command(of,
			[...what, ...filters.filter(([name]) =>
				!OF_TIME.includes(name)),
			 ["from", before], ["to", after]], app.trace()) :
			words.command(of, [...what, ...filters], old,
				      [app.trace().path]);
	}

	sql(): string {
		const { app } = this;
		const filters = app.address.filters();

		return this.isOfMoments() ? ofMoments(this.isOfSql() ? this.by() :
			"function", ...this.moments(), words.and("sums",
				filters.filter(([name]) =>
					!OF_TIME.includes(name)))) :
			rows.asSql(this.by(), this.cost(), filters);
	}

	update(): void {
		const graph = this.isGraph();

		this.drawTools();
		this.split.hidden = graph;
		this.graph.element.hidden = !graph;
		if (!this.isOfMoments() && this.old() === "") {
			this.split.hidden = false;
			this.graph.element.hidden = true;
			this.drawn = false;
			this.part.forget();
			this.part.empty(`The trace “${this.app.address.get(
				"old")}” is not served: choose another one ` +
				"as “before”.");
			return;
		}
		if (graph) {
			this.graph.show(this.compare("diff/flame", []),
					this.cost());
			return;
		}
		this.part.show(this.call(), (value) => {
			this.take(value);
			this.drawn = true;
			this.beside.hidden = true;
			this.table.toTop();
			this.draw();
		});
		if (this.drawn)
			this.draw();
	}

	search(): void {
		if (this.isGraph())
			this.graph.search();
	}

	close(): void {
		this.part.close();
		this.graph.close();
	}
}

export const diff: View = {
	name: "diff", title: "Diff", key: "i",
	hint: "What is new, gone, grown or shrunk, compared with another " +
		"trace or between two moments (brush a range and right-click " +
		"it).",
	open: (element, app) => new Diff(element, app),
};
