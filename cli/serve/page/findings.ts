/*
 * The answers first: what leaks, who holds the peak, what churns, what grows,
 * what is fragmented, what is missing. Each is a sentence that links to the rows
 * it was read from; nothing is computed here but comparisons of them.
 */
import * as quantity from "../../page/quantity";
import { Changes, Pair } from "./address";
import { Cell, Report, Result, Row, Step, Summary, results } from "./answers";
import { Child, h, svg } from "./dom";
import { KINDS } from "./memory_figure";
import * as moments from "./moments";
import { exactly } from "./options";
import { QUICK } from "./own_peaks";
import { App, Part } from "./view";
import * as words from "./words";

const STEPS = 16;
const GROWERS = 12;		/* sites whose growth is looked at */
const STEADY = .7;		/* share of steps in which a site grew */
const FEWEST = 4;		/* steps in which that can be told */
const OTHERS = 2;		/* sites that leak besides the largest */
const CHURN = .2;		/* share of temporary blocks worth telling */
const WASTE = .25;		/* share of resident memory that is fragmented */
const LEFT = .05;		/* share of the peak that is left at the end */

/* What the figures are of. */
interface About {
	isOne: boolean;		/* a moment */
	isLive: boolean;	/* a process that goes on */
	isFiltered: boolean;
	residency?: Result;	/* of each snapshot, once it is known */
	pid: number | null;
}

interface Said {
	mood: "good" | "bad" | "plain";
	title: string;
	text: Child[];
	more?: Child;
	links: [string, Changes, string][];
}

function code(row: Row | undefined): HTMLElement {
	const frame = words.site(row);

	return h("span", {}, h("code", {}, words.name(frame)),
		 h("small", {}, ` ${words.place(frame)}`));
}

function toSite(row: Row | undefined): Changes {
	const frame = words.site(row);

	return frame?.named && frame.function ?
		{ function: exactly(frame.function) } : {};
}

const share = (part: number, whole: number) => quantity.percent(part, whole);

const blocks = (count: number) => words.counted(count, "block");

/* Nothing that the filters select is no good news of the program. */
const good = (about: About): Said["mood"] => about.isFiltered ? "plain" : "good";

const THAT = " that the filters select";

/* "Live at the end", of what is not over "Live now". */
export function liveWhen({ isOne, isLive }: About): string {
	return isOne ? "live then" : isLive ? "live now" : "live at the end";
}

/* ---- what is said ---- */

/* Who called a site: its own function may be called by many that do not leak. */
function by(row: Row): string {
	const caller = row.stack?.[(row.site ?? 0) + 1];

	return !caller ? "" : row.stacks === 1 ?
		`, all called by ${words.name(caller)}` :
		`, its largest call stack from ${words.name(caller)}`;
}

function also(row: Row): Child[] {
	return [" Also ", code(row), `: ${quantity.size(row.live_bytes)} in ` +
		`${blocks(row.live_blocks)}${by(row)}.`];
}

export function leak({ summary, rows }: Report, about: About): Said {
	const { isOne, isLive } = about;
	const top = rows[0];
	const title = isOne ? "Alive then" : isLive ? "Alive now" : "Leaks";
	const when = `${isOne ? "was" : "is"} ${liveWhen(about)}`;

	if (summary.live_bytes === 0 || !top)
		return { mood: good(about), title, links: [], text: [
			`Nothing${about.isFiltered ? THAT : ""} ${when}.`] };
	const much = !isOne && !isLive &&
		summary.live_bytes >= LEFT * summary.peak_bytes;
	return { mood: much ? "bad" : "plain", title, text: [
		h("b", {}, quantity.size(summary.live_bytes)), " in ",
		blocks(summary.live_blocks), ` ${when}. `, code(top), " made ",
		h("b", {}, quantity.size(top.live_bytes)),
		` of it (${share(top.live_bytes, summary.live_bytes)}), in ` +
		`${blocks(top.live_blocks)}${by(top)}.`,
		...rows.slice(1, 1 + OTHERS).filter(({ live_bytes }) =>
			live_bytes > 0).flatMap(also)],
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

export function churn({ summary, rows }: Report, about: About): Said {
	const top = rows[0];
	const part = summary.temporary / Math.max(1, summary.allocations);
	const much = part >= CHURN;

	if (summary.temporary === 0 || !top)
		return { mood: good(about), title: "Churn", links: [],
			 text: [`No block${about.isFiltered ? THAT : ""} was ` +
				"freed before its thread's next allocation."] };
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

/* How a site grew: by how many bytes after its first step, and until when, if it
 * stayed as large after that. */
interface Growth {
	bytes: number;
	until_ns?: number;
}

const NONE: Growth = { bytes: 0 };

/* Step by step, with hardly a step back; and what it gained is still there. */
export function growth(steps: Step[]): Growth {
	const first = steps.findIndex((step) => step.allocations > 0);
	const some = steps.slice(Math.max(0, first));
	const live = some.map((one) => one.live_bytes);
	const rises = (i: number) => i > 0 && live[i] > live[i - 1];
	const falls = (i: number) => i > 0 && live[i] < live[i - 1];
	const most = Math.max(0, ...live);
	/* Where it had come to all but a twentieth of that. */
	const top = live.findIndex((bytes) => bytes >= (1 - LEFT) * most);
	const whole = live.map((_, i) => i);
	const enough = (at: number[]) => at.length > FEWEST &&
		at.filter(rises).length >= STEADY * (at.length - 1) &&
		at.filter(falls).length <= at.length / 8;

	if (first < 0)
		return NONE;
	if (live.length >= STEPS / 2 && enough(whole))
		return { bytes: live[live.length - 1] - live[0] };
	return enough(whole.slice(0, top + 1)) &&
		live.every((bytes, i) => i < top || bytes >= (1 - LEFT) * most) ?
		{ bytes: most - live[0], until_ns: some[top + 1]?.time_ns } :
		NONE;
}

export function grows({ summary, rows }: Report, about: About): Said {
	const title = "Growth";

	if (rows.length > 0 && !rows[0].timeline)
		return { mood: "plain", title, links: [], text: [
			"Of one moment alone, nothing is known of growth."] };
	/* What grows still comes before what has stopped. */
	const all = rows.map((row): [Row, Growth] =>
		[row, growth(row.timeline ?? [])])
		.filter(([, { bytes, until_ns }]) => bytes > 0 &&
			(until_ns === undefined ||
			 bytes >= LEFT * summary.peak_bytes))
		.sort(([, a], [, b]) => Number(a.until_ns !== undefined) -
			Number(b.until_ns !== undefined) || b.bytes - a.bytes);

	if (all.length === 0)
		return { mood: good(about), title, links: [], text: [
			`No site${about.isFiltered ? THAT : ""} grew steadily.`] };
	const [row, { bytes, until_ns }] = all[0];
	const seconds = ((until_ns ?? summary.duration_ns) - row.first_ns) / 1e9;
	const rate = quantity.size(Math.round(bytes / Math.max(seconds, 1e-9)));
	return { mood: until_ns === undefined ? "bad" : "plain", title, text: [
		code(row), " grew steadily, by ", h("b", {},
		quantity.size(bytes)), until_ns === undefined ? " in all: " :
		`, until ${quantity.time(until_ns)}, and stayed: `,
		h("b", {}, `${rate} a second`), "."],
		links: [["See it grow", { by: "site", sort: "live",
					  spark: "1" }, "groups"],
			["Its call stacks", { ...toSite(row), by: "stack",
				sort: "live", spark: "1" }, "groups"]] };
}

/* What resident memory consists of, as one bar. */
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
function wasted(row: Snapshot): Child[] {
	const rss = Number(row.rss_bytes);

	return ["of ", h("b", {}, quantity.size(rss)), " resident memory, ",
		h("b", {}, quantity.size(fragmented(row))),
		` (${share(fragmented(row), rss)}) was fragmented: free, but on ` +
		"pages that live blocks keep. "];
}

/* What is free in the allocator is no fragmentation: a program that freed all
 * before it ended has much of it. */
export function fragmentation(pinned: Result | undefined, about: About): Said {
	const all = about.residency?.rows ?? [];
	const last = all[all.length - 1];
	const worst = all.reduce((most, row) => fragmented(row) >
		fragmented(most) ? row : most, last);
	const much = (row: Snapshot) => Number(row.rss_bytes) > 0 &&
		fragmented(row) / Number(row.rss_bytes) > WASTE;
	const owner = pinned?.rows[0];

	if (!last)
		return { mood: "plain", title: "Fragmentation", links: [],
			 text: ["Not known: there is no snapshot of memory. ",
				h("code", {}, about.isLive ?
					`gnomon snapshot ${about.pid ?? "PID"}` :
					"gnomon run --snapshot-every 1s"),
				" takes some."] };
	const when = (row: Snapshot) =>
		`after ${quantity.time(Number(row.time_ns))}`;
	return { mood: much(worst) ? "bad" : "good", title: "Fragmentation",
		text: [about.isFiltered ? "Of the whole process: " : "",
			worst === last ? "At the last snapshot, " : "At most, ",
			`${when(worst)}, `, ...wasted(worst),
			...worst !== last ? [`At the last one, ${when(last)}, `,
				...wasted(last)] : [],
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
	say: (value: unknown, about: About) => Said[];
}

/* What is asked in the same words is found out once, by the server. */
export const top = (sort: string, number = 1): Pair[] =>
	[["by", "site"], ["sort", sort], ["top", String(number)], ...QUICK];

/* Leaks and growth are read from the same rows. */
const QUESTIONS: Question[] = [
	{ slot: "live", params: top("live", GROWERS), overTime: [
		["timeline", ""], ["steps", String(STEPS)]],
	  say: (v, about) => [leak(v as Report, about),
			      grows(v as Report, about)] },
	{ slot: "peak", params: top("peak"), say: (v) => [peak(v as Report)] },
	{ slot: "churn", params: top("temporary"),
	  say: (v, about) => [churn(v as Report, about)] },
	{ slot: "fragments", params: [], body: KEEPS_MOST,
	  say: (v, about) => about.residency ?
		[fragmentation(results(v)[0], about)] : [] },
	{ slot: "losses", params: [], body: "select * from losses",
	  say: (v) => [missing(results(v)[0])] },
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

	/* `sums`: gets those that the sentences are about, with filters. */
	constructor(private readonly app: App,
		    private readonly sums: (summary: Summary) => void) {
		this.parts = QUESTIONS.map(({ slot }) =>
			new Part(app, `finding-${slot}`, slot === "live" ?
				 "finding-part two" : "finding-part",
				 /* What filters match nothing, once. */
				 slot !== "live"));
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
				if (i === 0)
					this.sums((value as Report).summary);
			});
		});
	}

	private draw(i: number): void {
		const said = QUESTIONS[i].say(this.answers[i],
			about(this.app, this.residency));

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
