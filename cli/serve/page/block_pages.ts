/*
 * Rows of `blocks`, however many there are: pages of them are asked for when they
 * come into sight. They are in the order of the store, which is that of their
 * ends; live ones are last. A page of others begins by key: at the end of the
 * nearest row before it that is known.
 *
 *	known:  0 ──── row 1400, 12 ms ────── row 180000, 3.1 s ───
 *	wanted:                   row 176000: where end_ns >= 12 ms, offset …
 */
import { Result, result } from "./answers";
import { Stale, ask } from "./ask";
import { App } from "./view";

export type Block = Result["rows"][number];

const PAGE = 200;
const KEPT = 60;		/* pages */

const COLUMNS = "context, address, size, usable, begin_ns, end_ns, " +
	"lifetime_ns, fate, temporary, thread, thread_name, free_context, " +
	"free_thread, chain, place, arena, mmapped, function(context) as " +
	"function, file(context) as file, line(context) as line";

export const FIRST = 1000;	/* rows of another order */

interface Anchor {
	index: number;		/* of a row */
	end_ns: number;		/* of it, and of none before */
}

export function ordered(column: string): string {
	return `select ${COLUMNS} from blocks order by ${column}` +
		`${column === "begin_ns" ? "" : " desc"} limit ${FIRST}`;
}

export class Pages {
	private readonly pages = new Map<number, Block[]>();
	private anchors: Anchor[] = [{ index: 0, end_ns: 0 }];
	private wanted = -1;

	/* `ended` of the rows are not live. */
	constructor(private readonly app: App, private readonly count: number,
		    private readonly ended: number,
		    private readonly came: () => void,
		    private readonly failed: (error: Error) => void) {}

	row(index: number): Block | undefined {
		return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
	}

	/* Rows from first to last are in sight: what is missing is asked for,
	 * and then what lies behind it. */
	want(first: number, last: number): void {
		const missing = [Math.floor(first / PAGE), Math.floor(
			Math.max(first, last - 1) / PAGE)].find((page) =>
			!this.pages.has(page) && page * PAGE < this.count);

		if (missing !== undefined && missing !== this.wanted)
			void this.load(missing);
	}

	/* A page in which both kinds meet is asked for in two parts. */
	private statement(first: number): string {
		const { ended } = this;
		const near = this.anchors.reduce((best, one) =>
			one.index <= first && one.index > best.index ? one : best);
		const gone = `select ${COLUMNS} from blocks where end_ns >= ` +
			`${near.end_ns} limit ${PAGE} offset ` +
			`${first - near.index}`;
		const live = `select ${COLUMNS} from blocks where with_fate = ` +
			`'live' limit ${PAGE} offset ${Math.max(0, first - ended)}`;

		if (first >= ended)
			return live;
		return first + PAGE <= ended ? gone : `select * from (${gone}) ` +
			`union all select * from (${live}) limit ${PAGE}`;
	}

	private async load(page: number): Promise<void> {
		const statement = this.statement(page * PAGE);

		this.wanted = page;
		try {
			const { value } = await ask("blocks-page",
				this.app.call("sql", [], statement));
			this.wanted = -1;
			this.take(page, result(value).rows);
			this.came();
		} catch (error) {
			this.wanted = -1;
			if (!(error instanceof Stale))
				this.failed(error as Error);
		}
	}

	private take(page: number, rows: Block[]): void {
		const ends = rows.map((row) => row.end_ns);
		const last = ends[ends.length - 1] ?? null;
		const same = ends.indexOf(last);

		this.pages.set(page, rows);
		for (const old of this.pages.keys()) {
			if (this.pages.size <= KEPT)
				break;
			this.pages.delete(old);
		}
		/* From its first row on: none of the same time is before. */
		if (last !== null && same > 0)
			this.anchors.push({ index: page * PAGE + same,
					    end_ns: Number(last) });
	}
}
