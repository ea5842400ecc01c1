/*
 * Rows of `blocks`, of any number: pages are loaded when they become visible.
 * They are in the order of the store, by end; live blocks come last. The store
 * skips the rows before a page without reading them, or with filters by
 * scanning the columns of the filters.
 */
import { Result, result } from "./answers";
import { Stale, ask } from "./server_call";
import { App } from "./view";

export type Block = Result["rows"][number];

const PAGE = 200;
const KEPT = 60;		/* pages */

const COLUMNS = "context, address, size, usable, begin_ns, end_ns, " +
	"lifetime_ns, fate, temporary, thread, thread_name, free_context, " +
	"free_thread, chain, place, arena, mmapped, function(context) as " +
	"function, file(context) as file, line(context) as line";

export const FIRST = 1000;	/* rows shown in another order */

/* Allocation times ascending; everything else descending. */
export function orderTerm(column: string): string {
	return `${column}${column === "begin_ns" ? "" : " desc"}`;
}

export function orderedSql(column: string): string {
	return `select ${COLUMNS} from blocks order by ${orderTerm(column)} ` +
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

	/* Visible rows: load the first missing page, then the next. */
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
