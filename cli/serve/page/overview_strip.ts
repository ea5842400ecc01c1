/*
 * The strip: live memory over the whole recording, above every view; brushing
 * it filters all views. One call for each trace and generation.
 */
import { Result, numbers, results } from "./answers";
import { ask, Stale } from "./server_call";
import { find } from "./dom";
import { ofMoment } from "./menu_entries";
import { placeOf, showMenu } from "./menu";
import * as moments from "./moments";
import { Acts, Lane, Mark, Times, Timeline } from "./timeline";
import { App } from "./view";

export const STEPS = 480;

export interface Whole {
	times: Times;
	timeline: Result;
	marks: Mark[];
}

const MARKS = "select time_ns, coalesce(name, what) as name, what as kind " +
	"from markers union all select time_ns, name, 'snapshot' from " +
	"snapshots where kind = 'asked' and name is not null order by 1";

export const steps = (columns: string, more = "") =>
	`select ${columns} from timeline where steps = ${STEPS}${more} ` +
	"order by begin_ns";

export function timesOf(timeline: Result): Times {
	const ends = numbers(timeline, "end_ns");

	return { begin: numbers(timeline, "begin_ns"),
		 end_ns: Math.max(1, ends[ends.length - 1] ?? 1) };
}

export function acts(app: App, whole: () => Whole | undefined,
		     element: () => Element): Acts {
	return {
		brush: (from, to) => app.go({ from: moments.text(from),
					      to: moments.text(to) }),
		clear: () => app.go({ from: null, to: null }),
		menu: (event, ns) => {
			const known = whole();
			const range = known ? moments.range(app.address,
				known.times.end_ns, known.marks) : null;

			showMenu(...placeOf(event, element()), "",
				 ofMoment(app, ns, range));
		},
	};
}

export class Strip {
	private readonly line: Timeline;
	private known: Whole | undefined;
	private of = "";
	private waiting: ((whole: Whole) => void)[] = [];

	constructor(private readonly app: App) {
		this.line = new Timeline(38, "live memory over time",
			acts(app, () => this.known, () => this.line.element),
			true);
		find("strip").append(this.line.element);
	}

	/* Calls `then` as soon as the timeline is known. */
	whole(then: (whole: Whole) => void): void {
		if (this.known)
			then(this.known);
		else
			this.waiting.push(then);
	}

	update(): void {
		const trace = this.app.trace();
		const now = `${trace.id} ${trace.generation}`;

		if (now !== this.of) {
			this.of = now;
			void this.load();
		} else if (this.known) {
			this.draw(this.known);
		}
	}

	private draw({ times, timeline, marks }: Whole): void {
		const { address } = this.app;
		const lanes: Lane[] = [{ title: "live", unit: "bytes", series: [
			{ name: "live", kind: "k0", values: numbers(timeline,
				"live_bytes_max") }] }];

		this.line.show(times, lanes, [...marks, ...moments.alive(
			address, times.end_ns, marks)],
			moments.range(address, times.end_ns, marks));
	}

	private async load(): Promise<void> {
		const statement = steps("*") + ";\n" + MARKS;

		this.known = undefined;
		find("strip").setAttribute("aria-busy", "true");
		try {
			const { value } = await ask("strip", this.app.plain(
				"sql", [], statement));
			this.take(results(value));
		} catch (error) {
			if (error instanceof Stale)
				return;
			this.of = "";	/* retry at the next update */
		}
		find("strip").setAttribute("aria-busy", "false");
	}

	private take([timeline, marks]: Result[]): void {
		const known: Whole = { times: timesOf(timeline), timeline,
			marks: (marks?.rows ?? []).map((row) => ({
				time_ns: Number(row.time_ns),
				name: String(row.name ?? ""),
				kind: row.kind === "snapshot" ? "snapshot" :
					"marker" })) };

		this.known = known;
		this.draw(known);
		for (const then of this.waiting.splice(0))
			then(known);
	}
}
