/*
 * Rows of `blocks`, however many there are: pages of them are asked for when they
 * come into sight. They are in the order of the store, which is that of their
 * ends; live ones are last. The store passes over what lies before a page without
 * a look at it, or, where filters select, by a scan of what they are about.
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

/* The first allocation first; the largest of all else. */
export function sorted(column: string): string {
	return `${column}${column === "begin_ns" ? "" : " desc"}`;
}

export function ordered(column: string): string {
	return `select ${COLUMNS} from blocks order by ${sorted(column)} ` +
		`limit ${FIRST}`;
}

export class Pages {
	private readonly pages = new Map<number, Block[]>();
	private wanted = -1;

	constructor(private readonly app: App, private readonly count: number,
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

	private async load(page: number): Promise<void> {
		const statement = `select ${COLUMNS} from blocks limit ` +
			`${PAGE} offset ${page * PAGE}`;

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
		this.pages.set(page, rows);
		for (const old of this.pages.keys()) {
			if (this.pages.size <= KEPT)
				break;
			this.pages.delete(old);
		}
	}
}
