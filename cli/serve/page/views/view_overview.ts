/*
 * The overview: totals, findings (findings.ts), and timelines of live memory,
 * rates and resident memory, with one brush.
 */
import * as quantity from "../../../page/quantity";
import { Result, Summary, numbers, results } from "../answers";
import { exportSvg } from "../axis";
import { h } from "../dom";
import { Findings, about, liveWhen } from "../findings";
import { KINDS } from "../memory_figure";
import { menuOf } from "../menu";
import * as moments from "../moments";
import { Whole, acts, steps } from "../overview_strip";
import { Lane, Timeline } from "../timeline";
import { App, Part, Shown, View } from "../view";
import * as words from "../as_command";

const HIGH = 74;

const RESIDENT = KINDS.map(({ column, name, kind }): [string, string, string] =>
	[column, name, kind]);
const USAGE: [string, string, string][] = [
	["anonymous_bytes", "anonymous", "k0"],
	["shared_bytes", "files and shared", "k2"], ["swap_bytes", "swap", "k1"]];

function totals(summary: Summary, of: ReturnType<typeof about>): HTMLElement {
	const when = liveWhen(of);
	const all: [string, string, string][] = [
		["Allocations", quantity.count(summary.allocations),
		 `${quantity.size(summary.total_bytes)} in total`],
		["Peak", quantity.size(summary.peak_bytes),
		 `after ${quantity.time(summary.peak_time_ns)}`],
		[when[0].toUpperCase() + when.slice(1), quantity.size(summary.live_bytes),
		 words.countText(summary.live_blocks, "block")],
		["Temporary", quantity.percent(summary.temporary,
					       summary.allocations),
		 words.countText(summary.temporary, "block")],
		[of.isLive ? "Runs" : "Ran", quantity.time(summary.duration_ns),
		 `${words.countText(summary.threads, "thread")}, ` +
		 words.countText(summary.contexts, "call stack")],
		["Resident at most", summary.rss_peak_bytes ?
		 quantity.size(summary.rss_peak_bytes) : "–",
		 summary.rss_peak_time_ns ?
		 `after ${quantity.time(summary.rss_peak_time_ns)}` : ""] ];

	return h("div", {}, h("dl", { class: "totals" }, ...all.map(
		([title, value, more]) => h("div", {}, h("dt", {}, title),
			h("dd", {}, h("b", {}, value), h("small", {},
			summary.estimated ? `${more}, estimated` : more))))),
		of.isFiltered && h("p", { class: "quiet" },
			"Totals of the selected blocks; run time and " +
			"resident memory are of the whole process."));
}

/* A value for each step from occasional measurements: the last one holds. */
function holdLastValues(from: Result, column: string,
			begin: number[]): number[] {
	const at = numbers(from, "time_ns"), values = numbers(from, column);
	let next = 0;

	return begin.map((_, step) => {
		const until = begin[step + 1] ?? Infinity;

		while (next < at.length && at[next] < until)
			next++;
		return values[next - 1] ?? 0;
	});
}

function rate(values: number[], begin: number[], end_ns: number): number[] {
	return values.map((value, i) => value /
		Math.max(1, (begin[i + 1] ?? end_ns) - begin[i]) * 1e9);
}

function resident(residency: Result | undefined, usage: Result | undefined,
		  begin: number[]): Lane[] {
	const [from, kinds] = residency?.rows.length ? [residency, RESIDENT] :
		[usage, USAGE];

	if (!from?.rows.length)
		return [];
	return [{ title: "Resident memory", unit: "bytes", stacked: true,
		series: kinds.map(([column, name, kind]) => ({ name,
			kind, values: holdLastValues(from, column, begin) }))
			.filter(({ values }) => values.some((one) => one > 0)) }];
}

/* The lanes; if there are filters, both the selection and the total. */
function lanes({ times, timeline }: Whole, chosen: Result | undefined,
	       residency?: Result, usage?: Result): Lane[] {
	const { begin, end_ns } = times;
	const shown = chosen ?? timeline;
	const both = (column: string) => [
		...chosen ? [{ name: "all", kind: "back", line: true,
			       values: numbers(timeline, column) }] : [],
		{ name: chosen ? "filtered" : "live", kind: "k0",
		  values: numbers(shown, column) }];
	const rates = (column: string) =>
		rate(numbers(shown, column), begin, end_ns);

	return [{ title: "Live bytes", unit: "bytes",
		  series: both("live_bytes_max") },
		{ title: "Live blocks", unit: "count",
		  series: both("live_blocks") },
		{ title: "Blocks a second", unit: "count", series: [
			{ name: "allocated", kind: "k1",
			  values: rates("allocations") },
			{ name: "freed", kind: "k2", line: true,
			  values: rates("frees") },
			{ name: "temporary", kind: "k3", line: true,
			  values: rates("temporary") }] },
		{ title: "Bytes a second", unit: "bytes", series: [
			{ name: "allocated", kind: "k1",
			  values: rates("allocated_bytes") },
			{ name: "freed", kind: "k2", line: true,
			  values: rates("freed_bytes") }] },
		...resident(residency, usage, begin)];
}

const RESIDENCY_SQL = "select * from residency order by time_ns;\n" +
	"select time_ns, anonymous_bytes, shared_bytes, swap_bytes " +
	"from usage order by time_ns";

class Overview implements Shown {
	private readonly top = h("div", {});
	private readonly findings: Findings;
	private readonly residencyPart: Part;
	private readonly chosen: Part;
	private readonly lines: Timeline;
	private whole: Whole | undefined;
	private residency: Result[] = [];
	private filtered: Result | undefined;
	private sums: { of: string; summary: Summary } | undefined;

	constructor(element: HTMLElement, private readonly app: App) {
		this.findings = new Findings(app, (summary) => {
			this.sums = { of: this.chosenBy(), summary };
			this.totals();
		});
		this.residencyPart = new Part(app, "resident", "apart later");
		this.chosen = new Part(app, "chosen", "apart");
		this.lines = new Timeline(HIGH, "timelines", acts(app,
			() => this.whole, () => this.lines.element));
		element.append(this.top, this.findings.element,
			h("section", { class: "lanes-section" },
				h("h2", {}, "Over time", h("small", {},
					"drag to select a range for all " +
					"views; right-click for the blocks " +
					"alive at a moment"), this.button()),
				this.residencyPart.element, this.chosen.element,
				this.lines.element));
	}

	private button(): HTMLElement {
		const button = h("button", { type: "button",
					     class: "small" }, "Export");

		menuOf(button, "Timelines as", () => [
			{ text: "SVG", act: () =>
				exportSvg(this.lines.chart, "timelines.svg") },
			{ text: "As SQL, in the console", link:
				this.app.address.link({ q: steps("*") },
						      "sql") }]);
		return button;
	}

	update(): void {
		const { app } = this;

		this.findings.update();
		app.whole((whole) => {
			this.whole = whole;
			this.totals();
			this.timelines();
			this.resident();
		});
	}

	/* The residency query reads all events, so it runs after the fast
	 * results. */
	private resident(): void {
		this.residencyPart.show(this.app.plain("sql", [], RESIDENCY_SQL),
			(value) => {
				this.residency = results(value);
				this.findings.known(this.residency[0]);
				this.draw();
			}, () => this.findings.known({ columns: [],
						       rows: [] }));
	}

	/* Identifies what sums are about: trace and filters. */
	private chosenBy(): string {
		return JSON.stringify([this.app.trace().id,
				       this.app.address.filters()]);
	}

	/* The totals that the findings are about; until then, those of the
	 * unfiltered trace if no filter is active. */
	private totals(): void {
		const { app, sums } = this;
		const is = about(app);
		const summary = sums?.of === this.chosenBy() ? sums.summary :
			is.isFiltered ? undefined : app.summary();

		if (summary)
			this.top.replaceChildren(totals(summary, is));
	}

	/* The time range needs no call: it is only drawn on the chart. */
	private timelines(): void {
		const { app } = this;
		const others = app.address.filters().filter(([name]) =>
			!/^(from|to|alive-at|alive-at-2)$/.test(name));

		if (others.length === 0) {
			this.filtered = undefined;
			this.chosen.forget();
			this.draw();
			return;
		}
		this.chosen.show(app.plain("sql", others, steps("*")),
			(value) => {
				this.filtered = results(value)[0];
				this.draw();
			});
	}

	private draw(): void {
		const { whole } = this;

		if (!whole)
			return;
		const { times, marks } = whole;
		const { address } = this.app;
		this.lines.show(times, lanes(whole, this.filtered,
			...this.residency), [...marks,
			...moments.alive(address, times.end_ns, marks)],
			moments.range(address, times.end_ns, marks));
	}

	close(): void {
		this.findings.close();
		this.residencyPart.close();
		this.chosen.close();
	}
}

export const overview: View = {
	name: "overview", title: "Overview", key: "o",
	hint: "How the program used memory, findings first. Each finding " +
		"links to its data. Drag over a timeline: all views then " +
		"show the allocations in that range.",
	command: (app) => words.command("report", app.address.filters(),
					app.trace()),
	sql: (app) => steps("*", words.and("timeline", app.address.filters())),
	open: (element, app) => new Overview(element, app),
};
