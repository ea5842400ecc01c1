/*
 * Threads: the allocations of each, and a matrix of who frees the blocks of
 * others. Below, all processes that the server has traces of, side by side.
 */
import * as quantity from "../../../page/quantity";
import { Cell, Report, Result, Row, Summary, results } from "../answers";
import { figure } from "../axis";
import { Stale, ask } from "../server_call";
import { h } from "../dom";
import { showMenu, placeOf } from "../menu";
import { QUICK } from "../own_peaks";
import * as rows from "../rows";
import { App, Part, Shown, View, choice, emptyMessage, redraw } from "../view";
import * as words from "../as_command";

const MOST = 20;		/* threads in the matrix; all others are
				 * merged */
const PROCESSES = 40;
const OTHERS = "others";

const FREES = `select thread, free_thread, sum(blocks) as blocks,
    sum(bytes) as bytes
from block_counts where free_thread is not null group by 1, 2;
select thread, name from threads`;

const of = (from: string, to: string) => `select function(context) as function,
    coalesce(function(free_context), 'not recorded: gnomon run --free-stacks')
        as freed_by, count(*) as blocks,
    sum(size) as bytes
from blocks where thread is ${from} and free_thread is ${to}
group by 1, 2 order by blocks desc`;

type Line = Record<string, Cell>;

/* The threads with most allocations or frees, and the sums of each pair. */
function matrix(frees: Line[], measure: string):
		{ threads: string[]; cells: Map<string, number> } {
	const sums = new Map<string, number>();
	const cells = new Map<string, number>();
	const add = (map: Map<string, number>, key: string, more: number) =>
		map.set(key, (map.get(key) ?? 0) + more);

	for (const row of frees)
		for (const thread of [row.thread, row.free_thread])
			add(sums, String(thread), Number(row[measure]));
	const all = Array.from(sums).sort((a, b) => b[1] - a[1])
		.map(([thread]) => thread);
	const largest = new Set(all.slice(0, MOST));
	const name = (thread: Cell) => largest.has(String(thread)) ?
		String(thread) : OTHERS;

	for (const row of frees)
		add(cells, `${name(row.thread)} ${name(row.free_thread)}`,
		    Number(row[measure]));
	return { threads: [...largest, ...all.length > MOST ? [OTHERS] : []],
		 cells };
}

class Threads implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly list: Part;
	private readonly frees: Part;
	private readonly others = h("section", { class: "processes" });
	private readonly names = new Map<string, string>();
	private lines: Line[] | undefined;	/* undefined: not known yet */
	private asked = "";

	constructor(element: HTMLElement, private readonly app: App) {
		this.list = new Part(app, "threads");
		this.frees = new Part(app, "frees");
		element.append(this.tools, h("div", { class: "threads-body" },
			h("h2", {}, "Who allocates"), this.list.element,
			h("h2", {}, "Who frees what others allocated",
				h("small", {},
				  "rows allocated, columns freed; click for " +
				  "details")),
			this.frees.element, this.others));
	}

	private measure(): "blocks" | "bytes" {
		return this.app.address.oneOf("measure", ["blocks", "bytes"]);
	}

	private label(thread: string): string {
		const name = this.names.get(thread);

		return thread === "null" ? "unknown" : name ?
			`${name} ${thread}` : thread;
	}

	private drawThreads({ rows: all, summary }: Report): void {
		if (all.length === 0) {
			this.list.empty(...emptyMessage(this.app,
						   "There is no allocation"));
			return;
		}
		const bar = (row: Row) => {
			const cell = h("td", { class: "bar-cell" },
				figure("bytes", row.total_bytes));

			cell.style.setProperty("--share", quantity.percent(
				row.total_bytes, summary.total_bytes));
			return cell;
		};
		for (const row of all)
			this.names.set(String(row.tid),
				       String(row.thread ?? ""));
		this.list.body.replaceChildren(h("table", { class: "plain" },
			h("thead", {}, h("tr", {}, ...["Thread", "Total",
				"Allocations", "Temporary", "At peak", "Live",
				"Mean lifetime"].map((title) => h("th",
				{ scope: "col" }, title)))),
			h("tbody", {}, ...all.map((row) => h("tr", {},
				h("th", { scope: "row" }, h("a", { href:
					this.app.address.link({
					thread: String(row.tid) }, "groups") },
					this.label(String(row.tid)))),
				bar(row), ...[
				rows.figure("count", row.count),
				rows.figure("count", row.temporary),
				rows.figure("bytes", row.peak_bytes),
				rows.figure("bytes", row.live_bytes),
				rows.figure("ns", row.lifetime_ns)]
				.map((text) => h("td", {}, text)))))));
		this.drawMatrix();
	}

	private menu(event: MouseEvent, from: string, to: string): void {
		const { address } = this.app;

		showMenu(...placeOf(event, event.target as Element),
			`${this.label(from)} → ${this.label(to)}`, [
			from !== OTHERS && to !== OTHERS && {
				text: "Blocks that the first allocated and " +
				      "the second freed",
				link: address.link({ q: of(from, to) }, "sql") },
			from !== OTHERS && { text:
				"Only blocks that the first allocated",
				link: address.link({ thread: from }, "groups") }]);
	}

	private drawMatrix(): void {
		const measure = this.measure();

		if (!this.lines)
			return;
		const { threads, cells } = matrix(this.lines, measure);
		const max = Math.max(...cells.values(), 1);

		if (threads.length === 0) {
			this.frees.empty("Nothing was freed.");
			return;
		}
		const cell = (from: string, to: string) => {
			const value = cells.get(`${from} ${to}`) ?? 0;
			const button = h("button", { type: "button", click:
				(event: MouseEvent) => this.menu(event, from, to) },
				figure(measure === "bytes" ? "bytes" : "count",
				       value));
			const made = h("td", { class: from === to ?
				"cell own" : "cell" }, value ? button : "");

			made.style.setProperty("--part", String(value ?
				.06 + .5 * Math.sqrt(value / max) : 0));
			return made;
		};
		this.frees.body.replaceChildren(h("table", { class: "matrix" },
			h("thead", {}, h("tr", {}, h("td", {}, "allocated ↓ " +
				"freed →"), ...threads.map((to) => h("th",
				{ scope: "col" }, this.label(to))))),
			h("tbody", {}, ...threads.map((from) => h("tr", {},
				h("th", { scope: "row" }, this.label(from)),
				...threads.map((to) => cell(from, to)))))));
	}

	/* ---- processes ---- */

	private async processes(): Promise<void> {
		const { traces } = this.app;
		const lines: HTMLElement[] = [];

		for (const trace of traces.slice(0, PROCESSES)) {
			const path = `traces/${encodeURIComponent(trace.id)}/` +
				"report";

			try {
				const { value } = await ask("process", { path,
					params: [["by", "site"], ["sort", "live"],
						 ["top", "1"], ...QUICK] });
				lines.push(this.process(trace.name, trace.id,
					(value as Report).summary));
			} catch (error) {
				if (error instanceof Stale)
					return;
				lines.push(h("tr", {}, h("th", {}, trace.name),
					h("td", { colspan: 6 },
					  (error as Error).message)));
			}
		}
		this.others.replaceChildren(h("h2", {}, "Processes, side by side"),
			h("table", { class: "plain" }, h("thead", {}, h("tr",
				{}, ...["Trace", "Peak", "Live at the end",
				"Allocations", "Temporary", "Ran", "Ended"]
				.map((title) => h("th", { scope: "col" },
					title)))), h("tbody", {}, ...lines)));
	}

	private process(name: string, id: string, summary: Summary): HTMLElement {
		return h("tr", {}, h("th", { scope: "row" }, h("a", { href:
			this.app.address.link({ trace: id }, "overview"),
			title: summary.command }, name),
			h("small", {}, ` ${summary.pid}`)),
			...[figure("bytes", summary.peak_bytes),
			figure("bytes", summary.live_bytes),
			figure("count", summary.allocations),
			figure("count", summary.temporary),
			quantity.time(summary.duration_ns), summary.exit]
			.map((text) => h("td", {}, text)));
	}

	update(): void {
		const { app } = this;
		const now = app.traces.map(({ id, generation }) =>
			`${id} ${generation}`).join();

		redraw(this.tools, choice("measure", [["blocks", "blocks"],
			["bytes", "bytes"]], this.measure(), (value) =>
			app.go({ measure: value })));
		this.list.show(app.call("report", [["by", "thread"],
			["sort", "total"], ["top", "200"], ...QUICK]), (value) =>
			this.drawThreads(value as Report));
		this.frees.show(app.call("sql", [], FREES), (value) => {
			const [frees, named]: Result[] = results(value);

			this.lines = frees.rows;
			for (const row of named.rows)
				this.names.set(String(row.thread),
					       String(row.name ?? ""));
			this.drawMatrix();
		});
		this.drawMatrix();
		if (app.traces.length > 1 && now !== this.asked) {
			this.asked = now;
			void this.processes();
		}
	}

	close(): void {
		this.list.close();
		this.frees.close();
	}
}

export const threads: View = {
	name: "threads", title: "Threads", key: "d",
	hint: "The allocations of each thread, and, off the diagonal, blocks " +
		"that one thread allocated and another freed.",
	command: (app) => words.command("report", [["by", "thread"],
		["sort", "total"], ...app.address.filters()], app.trace()),
	sql: (app) => rows.asSql("thread", "total", app.address.filters()),
	open: (element, app) => new Threads(element, app),
};
