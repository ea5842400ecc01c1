/*
 * The answers first: what leaks, what grows, who holds the peak, what churns,
 * as `gnomon report` finds and says it; what is fragmented, what is missing. Each
 * is a sentence that links to the rows it was read from.
 */
import * as quantity from "../../page/quantity";
import { Changes, Pair } from "./address";
import { Finding, Report, Result, results } from "./answers";
import { Child, h, svg } from "./dom";
import * as moments from "./moments";
import { QUICK } from "./own_peaks";
import { App, Part } from "./view";

const WASTE = .25;		/* share of resident memory */

interface Said {
	mood: "good" | "bad" | "plain";
	title: string;
	text: Child[];
	more?: Child;
	links: [string, Changes, string][];
}

/* ---- what is said ---- */

/* "204K in 2,666 blocks leaked by `f` a.c:1". */
function sentence({ lead, sentence: whole }: Finding): Child[] {
	return [h("b", {}, lead), ...whole.slice(lead.length).split("`")
		.map((part, i) => i % 2 === 1 ? h("code", {}, part) : part), "."];
}

/* The rows that show it. */
function evidence({ query }: Finding): Changes {
	const { sort, by } = query;

	return { sort, by, ...query.function ? { function: query.function } :
		{} };
}

type Links = (found: Finding) => [string, Changes, string][];

interface Kind {
	title: string;
	moment?: string;	/* the title, of what is live at a moment */
	none: (report: Report, isOne: boolean) => string;
	links: Links;
}

/* Those that a report finds, in the order of their cards. */
const FOUND: Record<string, Kind> = {
	leak: { title: "Leaks", moment: "Alive then",
		none: (_, isOne) => `Nothing ${isOne ? "was live then" :
			"is live at the end"}.`,
		links: (found) => [
			["Who holds it", { by: "site", sort: "live" }, "groups"],
			["Its call stacks", evidence(found), "groups"],
			["Flame graph", { cost: "live" }, "flame"]] },
	growth: { title: "Growth",
		none: (_, isOne) => isOne ?
			"Of one moment alone, nothing is known of growth." :
			"No site grew steadily over the recording.",
		links: () => [["See it grow", { by: "site", sort: "live",
						spark: "1" }, "groups"]] },
	peak: { title: "Peak", none: () => "Nothing was ever live.",
		links: (found) => [
			["Who held it", { by: "site", sort: "peak" }, "groups"],
			["Flame graph", { cost: "peak" }, "flame"],
			["Alive then", { "alive-at":
				`${found.numbers.peak_time_ns}ns`, by: "site",
				sort: "live" }, "groups"]] },
	churn: { title: "Churn",
		none: ({ summary }) => summary.estimated ?
			"Not known: a sample lacks what was allocated between." :
			"No block was freed before its thread's next " +
			"allocation.",
		links: () => [
			["Who makes them", { by: "site", sort: "temporary" },
			 "groups"],
			["Flame graph", { cost: "temporary" }, "flame"]] },
};

function told(kind: string, report: Report, isOne: boolean): Said {
	const { title, moment, none, links } = FOUND[kind];
	const found = report.findings?.find((one) => one.kind === kind);
	const shown = isOne && moment ? moment : title;

	if (!found)
		return { mood: "good", title: shown, links: [],
			 text: [none(report, isOne)] };
	return { mood: found.matters && kind !== "peak" && !(isOne && moment) ?
		"bad" : "plain", title: shown, text: sentence(found),
		links: links(found) };
}

export function answers(report: Report, isOne: boolean): Said[] {
	return Object.keys(FOUND).map((kind) => told(kind, report, isOne));
}

const KINDS: [string, string][] = [["live_bytes", "live blocks"],
	["fragmented_bytes", "rest of their pages"],
	["free_bytes", "free in the allocator"],
	["mapped_bytes", "mapped by the program"], ["files_bytes", "files"],
	["stacks_bytes", "stacks"], ["recorder_bytes", "gnomon's own"],
	["rest_bytes", "not known"]];

/* What resident memory consists of, as one bar. */
function bar(row: Record<string, unknown>): HTMLElement {
	const whole = Number(row.rss_bytes) || 1;
	let x = 0;

	return h("div", { class: "parts" },
		svg("svg", { class: "parts-bar", viewBox: "0 0 100 10",
			     preserveAspectRatio: "none",
			     "aria-hidden": "true" },
			...KINDS.map(([column], i) => {
				const width = Number(row[column]) / whole * 100;
				const rect = svg("rect", { class: `area k${i}`,
					x, y: 0, width, height: 10 });

				x += width;
				return rect;
			})),
		h("ul", {}, ...KINDS.map(([column, name], i) =>
			Number(row[column]) > 0 && h("li", {},
				h("i", { class: `swatch k${i}` }), name, " ",
				h("b", {}, quantity.size(
					Number(row[column])))))));
}

const KEEPS_MOST = `select function(context) as function, kept_bytes,
    live_bytes, pages
from pinned order by kept_bytes desc limit 1`;
export const PINNED = `select function(context) as function,
    human(kept_bytes) as kept, human(live_bytes) as live,
    blocks, pages
from pinned order by kept_bytes desc limit 20`;

/* `residency`: of each snapshot. */
export function fragmentation(residency: Result | undefined,
			      pinned: Result | undefined): Said {
	const row = residency?.rows[residency.rows.length - 1];
	const owner = pinned?.rows[0];
	const rss = Number(row?.rss_bytes ?? 0);
	const waste = Number(row?.fragmented_bytes ?? 0) +
		Number(row?.free_bytes ?? 0);
	const much = rss > 0 && waste / rss > WASTE;

	if (!row)
		return { mood: "plain", title: "Fragmentation", links: [],
			 text: ["Not known: there is no snapshot of memory. ",
				h("code", {}, "gnomon run --snapshot-every 1s"),
				" makes some."] };
	return { mood: much ? "bad" : "good", title: "Fragmentation", text: [
		"Of ", h("b", {}, quantity.size(rss)), " resident memory, ",
		h("b", {}, quantity.size(Number(row.fragmented_bytes))),
		" is the rest of pages that live blocks keep, and ",
		h("b", {}, quantity.size(Number(row.free_bytes))),
		" is free in the allocator.",
		...owner && much ? [" ", h("code", {}, String(owner.function)),
			` keeps ${quantity.size(Number(owner.kept_bytes))} ` +
			"of pages by blocks of " +
			`${quantity.size(Number(owner.live_bytes))}.`] : []],
		more: bar(row),
		links: [["Whose blocks keep pages", { q: PINNED }, "sql"]] };
}

export function missing({ rows }: Result): Said {
	const lost = rows.filter(({ what, count }) => Number(count) > 0 &&
		what !== "foreign_frees");

	if (lost.length === 0)
		return { mood: "good", title: "Completeness", links: [],
			 text: ["Nothing was dropped, damaged or left out: " +
				"figures are of every allocation."] };
	return { mood: "bad", title: "Completeness", text: lost.map((row) =>
		`${quantity.count(Number(row.count))} ${row.meaning}. `),
		links: [["What is missing", { q: "select what, count, bytes, " +
			"meaning from losses" }, "sql"]] };
}

/* ---- where it is said ---- */

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
	body?: string;
	/* Nothing: more has to be known. */
	say: (value: unknown, isOne: boolean, residency: Result | undefined) =>
		Said[];
}

const QUESTIONS: Question[] = [
	{ slot: "answers", params: [["top", "1"], ...QUICK],
	  say: (v, isOne) => answers(v as Report, isOne) },
	{ slot: "fragments", params: [], body: KEEPS_MOST,
	  say: (v, _, residency) => residency ?
		[fragmentation(residency, results(v)[0])] : [] },
	{ slot: "losses", params: [], body: "select * from losses",
	  say: (v) => [missing(results(v)[0])] },
];

export class Findings {
	readonly element = h("div", { class: "findings" });
	private readonly parts: Part[];
	private readonly answers: unknown[] = [];
	private residency: Result | undefined;

	constructor(private readonly app: App) {
		this.parts = QUESTIONS.map(({ slot }) =>
			new Part(app, `finding-${slot}`, slot === "answers" ?
				 "finding-part several" : "finding-part"));
		this.element.append(...this.parts.map((part) => part.element));
	}

	update(): void {
		QUESTIONS.forEach(({ params, body }, i) => {
			const call = this.app.call(body ? "sql" : "report",
						   params, body);

			this.parts[i].show(call, (value) => {
				this.answers[i] = value;
				this.draw(i);
			});
		});
	}

	private draw(i: number): void {
		const said = QUESTIONS[i].say(this.answers[i],
			moments.isOne(this.app.address), this.residency);

		if (said.length > 0)
			this.parts[i].body.replaceChildren(...said.map((one) =>
				card(this.app, one)));
	}

	/* What resident memory consisted of at each snapshot, once it is known. */
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
