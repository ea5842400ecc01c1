/*
 * Findings: leaks, growth, peak and churn as `gnomon report` states them;
 * fragmentation; and missing data. Each is a sentence with links to its
 * evidence.
 */
import * as quantity from "../../page/quantity";
import { Changes, Pair } from "./address";
import { Cell, Finding, Report, Result, Summary, results } from "./answers";
import { Child, h, svg } from "./dom";
import { KINDS } from "./memory_figure";
import * as moments from "./moments";
import { QUICK } from "./own_peaks";
import { App, Part } from "./view";
import * as words from "./as_command";

const WASTE = .25;		/* share of resident memory */

/* What the findings are about. */
interface About {
	isOne: boolean;		/* one moment */
	isLive: boolean;	/* a running process */
	isFiltered: boolean;
	residency?: Result;	/* for each snapshot, once known */
	pid: number | null;
}

interface Said {
	mood: "good" | "bad" | "plain";
	title: string;
	text: Child[];
	more?: Child;
	links: [string, Changes, string][];
}

/* ---- texts ---- */

const share = (part: number, whole: number) => quantity.percent(part, whole);

const blocks = (count: number) => words.countText(count, "block");

/* An empty selection is not good news about the program. */
const good = (about: About): Said["mood"] => about.isFiltered ? "plain" : "good";

const which = (about: About) => about.isFiltered ? " that the filters select" : "";

/* "live at the end", or "live now" for a running process. */
export function liveWhen({ isOne, isLive }: About): string {
	return isOne ? "live then" : isLive ? "live now" : "live at the end";
}

/* "204K in 2,666 blocks leaked by `f` a.c:1". */
function sentence({ lead, sentence: whole, also }: Finding): Child[] {
	const codes = (text: string) => text.split("`").map((part, i) =>
		i % 2 === 1 ? h("code", {}, part) : part);

	return [h("b", {}, lead), ...codes(whole.slice(lead.length)), ".",
		...also ? codes(` ${also[0].toUpperCase()}${also.slice(1)}.`) : []];
}

/* The rows that are its evidence. */
function evidence({ query }: Finding): Changes {
	const { sort, by } = query;

	return { sort, by, ...query.function ? { function: query.function } :
		{} };
}

type Links = (found: Finding) => [string, Changes, string][];

interface Kind {
	title: string;
	/* Titles for one moment, and for a running process. */
	moment?: string;
	now?: string;
	none: (report: Report, about: About) => string;
	links: Links;
}

/* The findings of a report, in the order of their cards. */
const FOUND: Record<string, Kind> = {
	leak: { title: "Leaks", moment: "Alive then", now: "Alive now",
		none: (_, about) => `Nothing${which(about)} ` +
			`${about.isOne ? "was" : "is"} ${liveWhen(about)}.`,
		links: (found) => [
			["Who holds it", { by: "site", sort: "live" }, "groups"],
			["Its call stacks", evidence(found), "groups"],
			["Flame graph", { cost: "live" }, "flame"]] },
	growth: { title: "Growth",
		none: (_, about) => about.isOne ?
			"Growth is unknown for a single moment." :
			`No site${which(about)} grew steadily over the ` +
			"recording.",
		links: () => [["See it grow", { by: "site", sort: "live",
						spark: "1" }, "groups"]] },
	peak: { title: "Peak", none: () => "There was no live block.",
		links: (found) => [
			["Who held it", { by: "site", sort: "peak" }, "groups"],
			["Flame graph", { cost: "peak" }, "flame"],
			["Alive then", { "alive-at":
				`${found.numbers.peak_time_ns}ns`, by: "site",
				sort: "live" }, "groups"]] },
	churn: { title: "Churn",
		none: ({ summary }, about) => summary.estimated ?
			"Unknown: a sample does not have all allocations." :
			`No block${which(about)} was freed before its ` +
			"thread's next allocation.",
		links: () => [
			["Who allocates them", { by: "site",
				sort: "temporary" }, "groups"],
			["Flame graph", { cost: "temporary" }, "flame"]] },
};

function describe(kind: string, report: Report, about: About): Said {
	const { title, moment, now, none, links } = FOUND[kind];
	const found = report.findings?.find((one) => one.kind === kind);
	const other = about.isOne ? moment : about.isLive ? now : undefined;
	const shown = other ?? title;

	if (!found)
		return { mood: good(about), title: shown, links: [],
			 text: [none(report, about)] };
	return { mood: found.matters && kind !== "peak" && !other ? "bad" :
		"plain", title: shown, text: sentence(found),
		links: links(found) };
}

export function answers(report: Report, about: About): Said[] {
	return Object.keys(FOUND).map((kind) => describe(kind, report, about));
}

/* The parts of resident memory as one bar. */
function bar(row: Record<string, unknown>): HTMLElement {
	const whole = Number(row.rss_bytes) || 1;
	let x = 0;

	return h("div", { class: "parts" },
		svg("svg", { class: "parts-bar", viewBox: "0 0 100 10",
			     preserveAspectRatio: "none",
			     "aria-hidden": "true" },
			...KINDS.map(({ column, kind }) => {
				const width = Number(row[column]) / whole * 100;
				const rect = svg("rect", { class: `area ${kind}`,
					x, y: 0, width, height: 10 });

				x += width;
				return rect;
			})),
		h("ul", {}, ...KINDS.map(({ column, name, kind, help }) =>
			Number(row[column]) > 0 && h("li", { title: help },
				h("i", { class: `swatch ${kind}` }), name, " ",
				h("b", {}, quantity.size(
					Number(row[column])))))));
}

const KEEPS_MOST = `select function(context) as function, kept_bytes,
    live_bytes, blocks, pages
from pinned order by kept_bytes desc limit 1`;
export const pinnedBy = (where = "") => `select function(context) as function,
    human(kept_bytes) as kept, human(live_bytes) as live,
    blocks, pages
from pinned${where} order by kept_bytes desc limit 20`;
export const PINNED = pinnedBy();

type Snapshot = Record<string, Cell>;

const fragmented = (row: Snapshot | undefined) =>
	Number(row?.fragmented_bytes ?? 0);

/* "Of 96M resident memory, 24M, 25 %, …" */
function fragmentationText(row: Snapshot): Child[] {
	const rss = Number(row.rss_bytes);

	return ["of ", h("b", {}, quantity.size(rss)), " resident memory, ",
		h("b", {}, quantity.size(fragmented(row))),
		` (${share(fragmented(row), rss)}) was fragmented: free, but on ` +
		"pages that live blocks keep. "];
}

/* Free memory in the allocator is not fragmentation: a program that freed
 * everything before its end has much of it. */
export function fragmentation(pinned: Result | undefined, about: About): Said {
	const all = about.residency?.rows ?? [];
	const last = all[all.length - 1];
	const worst = all.reduce((max, row) => fragmented(row) >
		fragmented(max) ? row : max, last);
	const much = (row: Snapshot) => Number(row.rss_bytes) > 0 &&
		fragmented(row) / Number(row.rss_bytes) > WASTE;
	const owner = pinned?.rows[0];

	if (!last)
		return { mood: "plain", title: "Fragmentation", links: [],
			 text: ["Unknown: there is no snapshot of memory. ",
				h("code", {}, about.isLive ?
					`gnomon snapshot ${about.pid ?? "PID"}` :
					"gnomon run --snapshot-every 1s"),
				" takes snapshots."] };
	const when = (row: Snapshot) =>
		`after ${quantity.time(Number(row.time_ns))}`;
	return { mood: much(worst) ? "bad" : "good", title: "Fragmentation",
		text: [about.isFiltered ? "Of the whole process: " : "",
			worst === last ? "At the last snapshot, " : "At most, ",
			`${when(worst)}, `, ...fragmentationText(worst),
			...worst !== last ? [`At the last one, ${when(last)}, `,
				...fragmentationText(last)] : [],
			h("b", {}, quantity.size(Number(last.free_bytes))),
			" was free in the allocator.",
			...owner && much(last) ? [" ", h("code", {},
				String(owner.function)), " keeps most: ",
				blocks(Number(owner.blocks)), ", ",
				`${quantity.size(Number(owner.live_bytes))} ` +
				"together, keep ", h("b", {}, quantity.size(
					Number(owner.kept_bytes))),
				" of pages."] : []],
		more: bar(last),
		links: [["Whose blocks keep pages", { q: PINNED }, "sql"]] };
}

export function describeLosses({ rows }: Result): Said {
	const lost = rows.filter(({ what, count }) => Number(count) > 0 &&
		what !== "foreign_frees");

	if (lost.length === 0)
		return { mood: "good", title: "Completeness", links: [],
			 text: ["Nothing was dropped, damaged or left out: " +
				"all allocations are included."] };
	return { mood: "bad", title: "Completeness", text: lost.map((row) =>
		`${quantity.count(Number(row.count))} ${row.meaning}. `),
		links: [["What is missing", { q: "select what, count, bytes, " +
			"meaning from losses" }, "sql"]] };
}

/* ---- cards ---- */

function card(app: App, said: Said): HTMLElement {
	const moods = { good: "✓", bad: "!", plain: "•" };

	return h("article", { class: `finding ${said.mood}` },
		h("h2", {}, h("i", { "aria-hidden": "true" }, moods[said.mood]),
		  said.title),
		h("p", {}, ...said.text), said.more,
		said.links.length > 0 && h("p", { class: "links" },
			...said.links.map(([text, changes, view]) =>
				h("a", { href: app.address.link(changes, view) },
				  text))));
}

interface Question {
	slot: string;
	params: Pair[];
	isOfAll?: boolean;	/* filters do not matter */
	body?: string;
	/* Empty: more data is needed. */
	say: (value: unknown, about: About) => Said[];
}

const QUESTIONS: Question[] = [
	{ slot: "answers", params: [["top", "1"], ...QUICK],
	  say: (v, about) => answers(v as Report, about) },
	{ slot: "fragments", params: [], isOfAll: true, body: KEEPS_MOST,
	  say: (v, about) => about.residency ?
		[fragmentation(results(v)[0], about)] : [] },
	{ slot: "losses", params: [], body: "select * from losses",
	  say: (v) => [describeLosses(results(v)[0])] },
];

export function about(app: App, residency?: Result): About {
	return { isOne: moments.isOne(app.address), isLive: app.trace().live,
		 isFiltered: app.address.filters().length > 0, residency,
		 pid: app.trace().pid };
}

export class Findings {
	readonly element = h("div", { class: "findings" });
	private readonly parts: Part[];
	private readonly answers: unknown[] = [];
	private residency: Result | undefined;

	/* `sums`: called with the filtered totals that the findings are
	 * about. */
	constructor(private readonly app: App,
		    private readonly sums: (summary: Summary) => void) {
		this.parts = QUESTIONS.map(({ slot }) =>
			new Part(app, `finding-${slot}`, slot === "answers" ?
				 "finding-part several" : "finding-part",
				 /* Only the first part reports unmatched
				  * filters. */
				 slot !== "answers"));
		this.element.append(...this.parts.map((part) => part.element));
	}

	/* The first call runs alone. */
	update(): void {
		const others = () => QUESTIONS.forEach((_, i) =>
			i > 0 && this.ask(i, () => undefined));

		this.ask(0, others);
		if (this.answers[0] !== undefined)
			others();
	}

	private ask(i: number, then: () => void): void {
		const { params, isOfAll, body } = QUESTIONS[i];
		const { app } = this;
		const call = (isOfAll ? app.plain : app.call)(
			body ? "sql" : "report", params, body);

		this.parts[i].show(call, (value) => {
			this.answers[i] = value;
			this.draw(i);
			if (i === 0)
				this.sums((value as Report).summary);
			then();
		}, then);
	}

	private draw(i: number): void {
		const said = QUESTIONS[i].say(this.answers[i],
			about(this.app, this.residency));

		if (said.length > 0)
			this.parts[i].body.replaceChildren(...said.map((one) =>
				card(this.app, one)));
	}

	/* Sets the parts of resident memory at each snapshot. */
	known(residency: Result): void {
		this.residency = residency;
		QUESTIONS.forEach((_, i) => {
			if (this.answers[i] !== undefined)
				this.draw(i);
		});
	}

	close(): void {
		for (const part of this.parts)
			part.close();
	}
}
