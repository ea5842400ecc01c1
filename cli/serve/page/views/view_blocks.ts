/*
 * Every single allocation in order of their ends; visible rows are loaded on
 * demand (block_pages.ts). Other orders show only the first thousand. The open
 * block shows its stacks and its realloc chain.
 */
import * as quantity from "../../../page/quantity";
import { Frame, Result, result, results } from "../answers";
import { url } from "../server_call";
import { Block, FIRST, Pages, orderedSql, orderTerm } from "../block_pages";
import { Child, h } from "../dom";
import { copy, ofFunction, ofRow } from "../menu_entries";
import { Items, menuOf, showMenu } from "../menu";
import * as moments from "../moments";
import * as side from "../side_pane";
import { Column, Table } from "../table";
import { App, Part, Shown, View, chooser, emptyMessage, redraw } from "../view";
import * as words from "../as_command";

const ORDERS: [string, string][] = [["end", "when freed"],
	["begin_ns", "allocation"], ["size", "size"], ["lifetime_ns", "lifetime"],
	["between_allocations", "allocations in its lifetime"],
	["place", "position in its chain"], ["usable - size", "rounding"]];
const CHAIN = 200;		/* maximum of blocks shown of a chain */

const COUNT = "select sum(blocks) as blocks, sum(bytes) as bytes " +
	"from block_counts";

function hex(value: unknown): string {
	return `0x${Number(value).toString(16)}`;
}

function site(block: Block): Child {
	const place = block.file === null ? "" : `${words.base(String(
		block.file))}:${block.line}`;

	return h("span", {}, h("code", {}, String(block.function ??
		"(code in no file)")), h("small", {}, ` ${place}`));
}

const COLUMNS: Column<Block>[] = [
	{ name: "begin_ns", title: "Allocated", sorts: true, rises: true,
	  wide: 92, right: true,
	  help: "since the start of the recording",
	  cell: (block) => `${(Number(block.begin_ns) / 1e9).toFixed(6)}s` },
	{ name: "lifetime_ns", title: "Lived", wide: 84, right: true,
	  sorts: true, help: "until it was freed",
	  cell: (block) => block.end_ns === null ? "live" :
		quantity.time(Number(block.lifetime_ns)) },
	{ name: "size", title: "Size", wide: 76, right: true, sorts: true,
	  cell: (block) => quantity.size(Number(block.size)) },
	{ name: "address", title: "Address", wide: 128,
	  cell: (block) => h("code", {}, hex(block.address)) },
	{ name: "fate", title: "Fate", wide: 86, cell: (block) =>
		block.temporary ? "temporary" : String(block.fate) },
	{ name: "site", title: "Allocated by", cell: site },
	{ name: "thread", title: "Thread", wide: 130, cell: (block) =>
		`${block.thread_name ?? ""} ${block.thread ?? ""}` },
	{ name: "free", title: "Freed by", wide: 82, help:
		"the thread, if it was a different one", cell: (block) =>
		block.free_thread !== null &&
		block.free_thread !== block.thread ?
		String(block.free_thread) : "" },
	{ name: "place", title: "In chain", wide: 72, right: true, sorts: true,
	  help: "position in its realloc chain", cell: (block) =>
		block.place === null ? "" : `${block.place}.` },
];

/* SQL for the details of a block: allocating and freeing stack, and realloc
 * chain. */
function details(block: Block): string {
	return [side.asksFrames(block.context), side.asksFrames(block.free_context),
		block.chain === null ? "select 1 where 0" : "select place, " +
		"size, address, begin_ns, lifetime_ns, fate from blocks where " +
		`chain = ${Number(block.chain)} order by place limit ${CHAIN}`]
		.join(";\n");
}

function chainList({ rows }: Result): HTMLElement {
	return h("section", {}, h("h3", {}, `Chain of reallocs, ` +
		`${rows.length} blocks`), h("ol", { class: "chain" },
		...rows.map((row) => h("li", {}, h("b", {}, quantity.size(
			Number(row.size))), ` after ${quantity.time(Number(
			row.begin_ns))}, ${row.fate}, `, h("code", {},
			hex(row.address))))));
}

function orderOf(app: App): string {
	return app.address.oneOf("order", ORDERS.map(([one]) => one));
}

/* The statement for the list. */
function inOrder(app: App, where = ""): string {
	const order = orderOf(app);

	return `select * from blocks${where}` + (order === "end" ? "" :
		` order by ${orderTerm(order)} limit ${FIRST}`);
}

class Blocks implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly part: Part;
	private readonly one: Part;
	private readonly beside = h("div", { class: "beside", hidden: true });
	private readonly table: Table<Block>;
	private pages: Pages | undefined;
	private opened: Block | undefined;
	private stack: Frame[] = [];

	constructor(element: HTMLElement, private readonly app: App) {
		this.part = new Part(app, "blocks", "fills");
		this.one = new Part(app, "block");
		this.table = new Table<Block>("allocations", {
			sort: (column) => app.go({ order: column }),
			open: (block, index) => {
				this.table.mark(index);
				app.address.amend({ open: `${block.begin_ns}-` +
					`${block.address}` });
			},
			menu: (_, place, block) => showMenu(...place,
				hex(block.address), this.items(block)),
			want: (from, to) => this.pages?.want(from, to) });
		element.append(this.tools, h("div", { class: "split" },
			this.part.element, this.beside));
	}

	private items(block: Block): Items {
		const { app } = this;
		const at = Number(block.begin_ns);
		const end = block.end_ns === null ? null : Number(block.end_ns);
		const link = (text: string, changes: Record<string, string>) =>
			({ text, link: app.address.link(changes) });

		return [...ofRow(app, { context: Number(block.context) },
				 undefined),
			link("Alive at the same time", {
				"alive-at": moments.text(at) }),
			end !== null && link("Allocated during its lifetime",
				{ from: moments.text(at),
				  to: moments.text(end) }),
			link(`Of this size, ${quantity.size(
				Number(block.size))}`, {
				"size-min": String(block.size),
				"size-max": String(block.size) }),
			link("At this address, at any time", {
				"address-min": hex(block.address),
				"address-max": hex(block.address) }),
			block.thread !== null && link("Of this thread",
				{ thread: String(block.thread) }),
			block.free_context !== null &&
			link("Freed by the same call stack",
				{ "free-context": String(block.free_context) }),
			"line", ...this.opened === block && this.stack.length ?
			ofFunction(app, this.stack[0]) : [],
			{ text: "Copy the address", act: () =>
				void copy(hex(block.address), "address") }];
	}

	private order(): string {
		return orderOf(this.app);
	}

	private drawTools(said: string): void {
		const { app } = this;
		const save = h("button", { type: "button", class: "small" },
			       "Rows as…");

		menuOf(save, "", () => [
			{ text: "CSV, all of them", link: url(app.call("sql.csv",
				[["statement", "select * from blocks"]])) },
			{ text: "In the SQL console", link: app.address.link(
				{ q: "select * from blocks limit 1000" },
				"sql") }]);
		redraw(this.tools, chooser("order", ORDERS, this.order(),
			(value) => app.go({ order: value })),
			h("span", { class: "quiet" }, said),
			h("span", { class: "grow" }), save);
	}

	private drawTable(count: number,
			  row: (index: number) => Block | undefined): void {
		if (count === 0) {
			this.part.empty(...emptyMessage(this.app,
						   "There is no allocation"));
			return;
		}
		if (!this.part.body.contains(this.table.element))
			this.part.body.replaceChildren(this.table.element);
		this.table.show(COLUMNS, count, row, this.order());
	}

	private drawAll(value: unknown): void {
		const { blocks, bytes } = result(value).rows[0];
		const count = Number(blocks);
		const pages = new Pages(this.app, count, () => {
			if (this.pages === pages)
				this.table.later();
		}, (error) => this.part.empty(error.message));

		this.pages = pages;
		this.table.toTop();
		this.drawTools(`${quantity.count(count)} allocations, ` +
			       quantity.size(Number(bytes)));
		this.drawTable(count, (index) => pages.row(index));
	}

	private drawFirst(value: unknown): void {
		const { rows } = result(value);

		this.pages = undefined;
		this.table.toTop();
		this.drawTools(rows.length < FIRST ?
			`${quantity.count(rows.length)} allocations` :
			`the first ${quantity.count(FIRST)} in this order; ` +
			"“when freed” shows all");
		this.drawTable(rows.length, (index) => rows[index]);
	}

	/* The open block is identified by time and address, which are
	 * unique. */
	private open(): void {
		const open = this.app.address.get("open") ?? "";
		const key = /^(\d+)-(\d+)$/.exec(open);

		this.beside.hidden = !key;
		if (!key) {
			this.opened = undefined;
			return;
		}
		this.one.show(this.app.plain("sql", [], "select *, " +
			"function(context) as function, file(context) as file, " +
			"line(context) as line from blocks where " +
			`begin_ns = ${key[1]} and address = ${key[2]}`),
			(value) => {
				const block = result(value).rows[0];

				if (block)
					this.tell(block);
				else
					this.one.empty("No such block.");
			});
		if (!this.beside.contains(this.one.element))
			this.beside.replaceChildren(this.one.element);
	}

	private tell(block: Block): void {
		const more = new Part(this.app, "block-stacks");
		const figures: [string, string][] = [
			["Size", `${quantity.count(Number(block.size))} B`],
			["Usable", block.usable === null ? "–" :
			 `${quantity.count(Number(block.usable))} B`],
			["Allocated", quantity.time(Number(block.begin_ns))],
			["Lived", quantity.time(Number(block.lifetime_ns))],
			["Fate", String(block.fate)],
			["Thread", String(block.thread ?? "–")],
			["Freed by", String(block.free_thread ?? "–")],
			["Arena", String(block.arena ?? "–")]];

		this.opened = block;
		this.one.body.replaceChildren(side.pane(h("code", {},
			hex(block.address)), () =>
			this.app.address.amend({ open: null }),
			() => this.items(block),
			h("dl", { class: "side-figures" }, ...figures.map(
				([title, value]) => h("div", {}, h("dt", {},
				title), h("dd", {}, value)))), more.element));
		more.show(this.app.plain("sql", [], details(block)), (value) => {
			const [made, freed, chain] = results(value);

			this.stack = side.frames(made);
			more.body.replaceChildren(side.stack(this.app,
				"Allocated by, innermost first", this.stack),
				...freed.rows.length ? [side.stack(this.app,
					"Freed by", side.frames(freed))] :
				block.end_ns === null ? [] : [h("p",
					{ class: "quiet" },
					"The free's call stack was not " +
					"recorded: ", h("code", {},
					"gnomon run --free-stacks"), " does.")],
				...chain.rows.length ? [chainList(chain)] : []);
		});
	}

	update(): void {
		const { app } = this;
		const order = this.order();

		if (order === "end")
			this.part.show(app.call("sql", [], COUNT),
				       (value) => this.drawAll(value));
		else
			this.part.show(app.call("sql", [], orderedSql(order)),
				       (value) => this.drawFirst(value));
		this.open();
	}

	close(): void {
		this.part.close();
		this.one.close();
	}
}

export const blocks: View = {
	name: "blocks", title: "Allocations", key: "a",
	hint: "Every single allocation in order of frees; live blocks come " +
		"last. Click for its stacks and realloc chain; " +
		"right-click to find related blocks.",
	command: (app) => words.command("sql", app.address.filters(),
		app.trace(), [inOrder(app)]),
	sql: (app) => inOrder(app, words.where("blocks", app.address.filters())),
	open: (element, app) => new Blocks(element, app),
};
