/*
 * The answers first: what leaks, who holds the peak, what churns, what grows,
 * what is fragmented, what is missing. Each is a sentence that links to the rows
 * it was read from; nothing is computed here but comparisons of them.
 */
import * as quantity from "../../page/quantity";
import { Changes, Pair } from "./address";
import { Report, Result, Row, Step, results } from "./answers";
import { Child, h, svg } from "./dom";
import * as moments from "./moments";
import { exactly } from "./options";
import { QUICK } from "./own_peaks";
import { App, Part } from "./view";
import * as words from "./words";

const STEPS = 16;
const GROWERS = 12;		/* sites whose growth is looked at */
const STEADY = .7;		/* share of steps in which a site grew */
const CHURN = .2;		/* share of temporary blocks worth telling */
const WASTE = .25;		/* share of resident memory */
const LEFT = .05;		/* share of the peak that is left at the end */

interface Said {
	mood: "good" | "bad" | "plain";
	title: string;
	text: Child[];
	more?: Child;
	links: [string, Changes, string][];
}

function code(row: Row | undefined): HTMLElement {
	const frame = row?.stack?.[0];

	return h("span", {}, h("code", {}, words.name(frame)),
		 h("small", {}, ` ${words.place(frame)}`));
}

function toSite(row: Row | undefined): Changes {
	const frame = row?.stack?.[0];

	return frame?.named && frame.function ?
		{ function: exactly(frame.function) } : {};
}

const share = (part: number, whole: number) => quantity.percent(part, whole);

const blocks = (count: number) => count === 1 ? "1 block" :
	`${quantity.count(count)} blocks`;

/* ---- what is said ---- */

export function leak({ summary, rows }: Report, isOne: boolean): Said {
	const top = rows[0];
	const title = isOne ? "Alive then" : "Leaks";
	const when = isOne ? "was live then" : "is live at the end";

	if (summary.live_bytes === 0 || !top)
		return { mood: "good", title, links: [],
			 text: [`Nothing ${when}.`] };
	const much = !isOne && summary.live_bytes >= LEFT * summary.peak_bytes;
	return { mood: much ? "bad" : "plain", title, text: [
		h("b", {}, quantity.size(summary.live_bytes)), " in ",
		blocks(summary.live_blocks), ` ${when}. `, code(top), " made ",
		h("b", {}, quantity.size(top.live_bytes)),
		` of it (${share(top.live_bytes, summary.live_bytes)}), in ` +
		`${blocks(top.live_blocks)}.`],
		links: [["Who holds it", { by: "site", sort: "live" }, "groups"],
			["Its call stacks", { ...toSite(top), by: "stack",
				sort: "live" }, "groups"],
			["Flame graph", { cost: "live" }, "flame"]] };
}

export function peak({ summary, rows }: Report): Said {
	const top = rows[0];

	if (summary.peak_bytes === 0 || !top)
		return { mood: "plain", title: "Peak", links: [],
			 text: ["Nothing was ever live."] };
	return { mood: "plain", title: "Peak", text: [
		h("b", {}, quantity.size(summary.peak_bytes)), " was live at " +
		`most, after ${quantity.time(summary.peak_time_ns)}. `,
		code(top), " held ", h("b", {}, quantity.size(top.peak_bytes)),
		` of it (${share(top.peak_bytes, summary.peak_bytes)}).`],
		links: [["Who held it", { by: "site", sort: "peak" }, "groups"],
			["Flame graph", { cost: "peak" }, "flame"],
			["Alive then", { "alive-at": `${summary.peak_time_ns}ns`,
				by: "site", sort: "live" }, "groups"]] };
}

export function churn({ summary, rows }: Report): Said {
	const top = rows[0];
	const part = summary.temporary / Math.max(1, summary.allocations);
	const much = part >= CHURN;

	if (summary.temporary === 0 || !top)
		return { mood: "good", title: "Churn", links: [],
			 text: ["No block was freed before its thread's next " +
				"allocation."] };
	return { mood: much ? "bad" : "plain", title: "Churn", text: [
		h("b", {}, share(summary.temporary, summary.allocations)),
		` of ${quantity.count(summary.allocations)} allocations are ` +
		"temporary: freed before their thread's next one. ", code(top),
		" made ", h("b", {}, quantity.count(top.temporary)),
		" of them."],
		links: [["Who makes them", { by: "site", sort: "temporary" },
			 "groups"],
			["Flame graph", { cost: "temporary" }, "flame"]] };
}

/* Bytes that a site gained after its first allocation; 0: not steadily. */
export function growth(steps: Step[]): number {
	const from = steps.findIndex((step) => step.allocations > 0);
	const live = steps.slice(Math.max(0, from)).map((one) => one.live_bytes);
	const rises = live.filter((bytes, i) => i > 0 && bytes > live[i - 1]);
	const falls = live.filter((bytes, i) => i > 0 && bytes < live[i - 1]);

	return from >= 0 && live.length >= STEPS / 2 &&
		rises.length >= STEADY * (live.length - 1) &&
		falls.length <= live.length / 8 ?
		live[live.length - 1] - live[0] : 0;
}

export function grows({ summary, rows }: Report): Said {
	if (rows.length > 0 && !rows[0].timeline)
		return { mood: "plain", title: "Growth", links: [], text: [
			"Of one moment alone, nothing is known of growth."] };
	const all = rows.map((row): [Row, number] =>
		[row, growth(row.timeline ?? [])])
		.sort((a, b) => b[1] - a[1]);
	const [row, gained] = all[0] ?? [undefined, 0];

	if (!row || gained <= 0)
		return { mood: "good", title: "Growth", links: [], text: [
			"No site grew steadily over the recording."] };
	const seconds = (summary.duration_ns - row.first_ns) / 1e9;
	return { mood: "bad", title: "Growth", text: [code(row), " grew " +
		"steadily, by ", h("b", {}, quantity.size(gained)), " in all: ",
		h("b", {}, `${quantity.size(Math.round(gained /
			Math.max(seconds, 1e-9)))} a second`), "."],
		links: [["See it grow", { by: "site", sort: "live",
					  spark: "1" }, "groups"],
			["Its call stacks", { ...toSite(row), by: "stack",
				sort: "live", spark: "1" }, "groups"]] };
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
	overTime?: Pair[];
	body?: string;
	/* Nothing: more has to be known. */
	say: (value: unknown, isOne: boolean, residency: Result | undefined) =>
		Said[];
}

/* What is asked in the same words is found out once, by the server. */
export const top = (sort: string, number = 1): Pair[] =>
	[["by", "site"], ["sort", sort], ["top", String(number)], ...QUICK];

/* Leaks and growth are read from the same rows. */
const QUESTIONS: Question[] = [
	{ slot: "live", params: top("live", GROWERS), overTime: [
		["timeline", ""], ["steps", String(STEPS)]],
	  say: (v, isOne) => [leak(v as Report, isOne), grows(v as Report)] },
	{ slot: "peak", params: top("peak"), say: (v) => [peak(v as Report)] },
	{ slot: "churn", params: top("temporary"),
	  say: (v) => [churn(v as Report)] },
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
			new Part(app, `finding-${slot}`, slot === "live" ?
				 "finding-part two" : "finding-part"));
		this.element.append(...this.parts.map((part) => part.element));
	}

	update(): void {
		const isOne = moments.isOne(this.app.address);

		QUESTIONS.forEach(({ params, overTime, body }, i) => {
			const call = this.app.call(body ? "sql" : "report",
				[...params, ...isOne ? [] : overTime ?? []],
				body);

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
