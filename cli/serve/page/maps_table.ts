/*
 * A table of mappings with origin and time; for the open one, its resident
 * memory over time, and the call stack that mapped it.
 */
import { fitName } from "../../page/names";
import * as quantity from "../../page/quantity";
import { hex } from "./address_space";
import { Cell, Frame, Result, numbers, results } from "./answers";
import { spark } from "./axis";
import { Child, h } from "./dom";
import { Items, showMenu } from "./menu";
import * as moments from "./moments";
import * as side from "./side_pane";
import { Column, Table } from "./table";
import { App, Part } from "./view";
import * as words from "./as_command";

export type Line = Record<string, Cell>;

/* Sort orders, by column of the table. */
const ORDERS: Record<string, string> = {
	/* Mappings of the recorder come last. */
	bytes: "m.origin = 'gnomon', m.bytes desc, m.size desc",
	size: "m.size desc", rss: "rss desc", address: "m.address",
	when: "m.begin_ns, m.map" };

const maps = (order: string) => `select m.map, m.address, m.size, m.bytes, m.begin_ns,
    m.end_ns, m.path, m.origin, m.context, function(m.context) as function,
    readable, writable, executable,
    (select sum(u.rss_bytes) from map_usage u
     where u.snapshot = (select max(snapshot) from snapshots)
        and u.address >= m.address
        and u.address + u.size <= m.address + m.size
        and m.end_ns is null) as rss
from maps m order by ${ORDERS[order]} limit 5000;
select address, size, rss_bytes from map_usage
where snapshot = (select max(snapshot) from snapshots)`;

/* The kernel merges adjacent mappings of the same kind. */
const TOGETHER = "including neighbours that the kernel merged with it";

/* For mappings that the kernel merged with neighbours: the resident memory of
 * all of them. */
function withNeighbours(maps: Line[], usage: Line[]): void {
	const end = (one: Line) => Number(one.address) + Number(one.size);

	for (const map of maps)
		if (map.rss === null && map.end_ns === null) {
			const all = usage.filter((one) => Number(one.address) <
				end(map) && end(one) > Number(map.address));

			map.together = all.length === 0 ? null : all.reduce(
				(sum, one) => sum + Number(one.rss_bytes), 0);
		}
}

function resident(map: Line): Child {
	if (map.rss !== null)
		return quantity.size(Number(map.rss));
	if (map.end_ns !== null)
		return "–";
	return map.together === null ? h("span", { title: "unknown" }, "?") :
		h("span", { title: TOGETHER },
		  `≤ ${quantity.size(Math.min(Number(map.together),
			Number(map.size)))}`);
}

/* A glibc thread arena is 64 MiB, aligned to its size: first the part in use,
 * then the reserved part. */
const ARENA = 64 << 20;

function origin(map: Line, rows: Line[]): string {
	const from = Number(map.address), to = from + Number(map.size);
	const known = map.origin !== "unknown" &&
		map.origin !== "before recording";
	const reserved = !known && map.path === null &&
		!map.readable && !map.writable && to % ARENA === 0 &&
		rows.some((other) => other.path === null && other.writable &&
			Number(other.address) === to - ARENA &&
			from < to && from > to - ARENA);

	return reserved ? "malloc, reserve" : String(map.origin ?? "");
}

const address = (map: Line) => hex(Number(map.address));

/* The lifetime as a part of the recording. */
function lifetime(map: Line, end_ns: number): HTMLElement {
	const begin = Number(map.begin_ns);
	const end = map.end_ns === null ? end_ns : Number(map.end_ns);
	const bar = h("i", { class: map.end_ns === null ? "life stays" : "life",
		title: `${quantity.time(begin)} – ${map.end_ns === null ?
			"the end" : quantity.time(end)}` });

	bar.style.setProperty("--from", quantity.percent(begin, end_ns));
	bar.style.setProperty("--part", quantity.percent(Math.max(0,
		end - begin), end_ns));
	return bar;
}

function columns(end_ns: number, rows: Line[]): Column<Line>[] {
	return [
		{ name: "address", title: "Address", wide: 128, sorts: true,
		  rises: true,
		  cell: (map) => h("code", {}, address(map)) },
		{ name: "size", title: "Mapped", wide: 80, right: true,
		  sorts: true, cell: (map) => quantity.size(Number(map.size)) },
		{ name: "bytes", title: "At the end", wide: 108, right: true,
		  sorts: true, help: "bytes still mapped at the end",
		  cell: (map) =>
			Number(map.bytes) ? quantity.size(Number(map.bytes)) :
			"–" },
		{ name: "rss", title: "Resident", wide: 80, right: true,
		  sorts: true, help: "at the last snapshot; ≤: " + TOGETHER,
		  cell: resident },
		{ name: "access", title: "", wide: 46, cell: (map) =>
			h("code", {}, (map.readable ? "r" : "-") +
				(map.writable ? "w" : "-") +
				(map.executable ? "x" : "-")) },
		{ name: "path", title: "What", cell: (map) => map.path === null ?
			"anonymous" : String(map.path) },
		{ name: "origin", title: "By", wide: 120,
		  cell: (map) => origin(map, rows) },
		{ name: "function", title: "In", wide: 150, cell: (map) =>
			h("code", {}, map.context === null ? "" :
				String(map.function ?? "")) },
		{ name: "when", title: "When", wide: 150, sorts: true, rises: true,
		  help: "from the start of the recording to its end",
		  cell: (map) => lifetime(map, end_ns) },
	];
}

/* The kernel merges adjacent mappings of the same kind: then it includes the
 * neighbours. */
function usage(map: Line): string {
	const from = Number(map.address), to = from + Number(map.size);

	return `select s.time_ns, sum(u.rss_bytes) as rss,
    sum(u.anonymous_bytes) as anonymous, sum(u.swap_bytes) as swap,
    max(u.address < ${from} or u.address + u.size > ${to}) as more
from map_usage u join snapshots s using (snapshot)
where u.address < ${to} and u.address + u.size > ${from}
group by 1 order by 1;
${side.asksFrames(map.context)};
select stack(${Number(map.context ?? -1)}) as stack`;
}

/* Call stacks that mapped but never allocated have no frames in tables: their
 * functions come as one text, separated by ";", escaped as "\\;". */
function functions({ rows }: Result): Frame[] {
	const names = String(rows[0].stack ?? "").match(/(?:\\.|[^;\\])+/g);

	return (names ?? []).map((name) => ({
		function: name.replace(/\\(.)/g, "$1"), named: true, file: null,
		line: 0, library: null, inlined: false }));
}

function history(answer: Result): HTMLElement {
	const rss = numbers(answer, "rss");
	const last = answer.rows[answer.rows.length - 1];
	const size = (column: string) => quantity.size(Number(last[column]));

	if (rss.length === 0)
		return h("p", { class: "quiet" },
			"No snapshot has its resident memory.");
	return h("section", { class: "side-spark" }, h("h3", {},
		`Resident, at ${words.countText(rss.length, "snapshot")}: ` +
		"at most " + quantity.size(rss.reduce((a, b) => Math.max(a, b), 0))),
		spark(rss, 300, 60), h("p", { class: "quiet" },
		`Last ${size("rss")}, anonymous ${size("anonymous")}, in swap ` +
		`${size("swap")}.${last.more ? " With what lies beside it, " +
			"which the kernel does not tell apart." : ""}`));
}

export class Mappings {
	readonly element: HTMLElement;
	private readonly part: Part;
	private readonly one: Part;
	private readonly beside = h("div", { class: "beside", hidden: true });
	private readonly table: Table<Line>;
	private rows: Line[] | undefined;

	constructor(private readonly app: App) {
		this.part = new Part(app, "maps", "fills");
		this.one = new Part(app, "map");
		this.table = new Table<Line>("mappings", {
			sort: (column) => app.go({ sort: column }),
			open: (map) => app.address.amend({
				open: String(map.map) }),
			menu: (_, place, map) => showMenu(...place, fitName(
				String(map.path ?? address(map)), 60),
				this.items(map)) });
		this.element = h("div", { class: "split" }, this.part.element,
				 this.beside);
	}

	private items(map: Line): Items {
		const { app } = this;
		const link = (text: string, changes: Record<string, string>,
			      view: string) =>
			({ text, link: app.address.link(changes, view) });

		return [link("Blocks that were in it", { "address-min":
				address(map), "address-max": hex(
				Number(map.address) + Number(map.size) - 1) },
				"blocks"),
			link("Who holds memory in it", { map: address(map) },
			     "groups"),
			link("Alive when it was mapped", { "alive-at":
				moments.text(Number(map.begin_ns)) }, "groups"),
			{ text: "Zoom in", link: app.address.link({ space:
				`${address(map).slice(2)}-${hex(Number(
				map.address) + Number(map.size)).slice(2)}` }) }];
	}

	private open(rows: Line[]): void {
		const open = this.app.address.get("open");
		const index = rows.findIndex(({ map }) => String(map) === open);
		const map = rows[index];

		this.beside.hidden = !map;
		this.table.mark(index);
		if (!map)
			return;
		this.one.show(this.app.plain("sql", [], usage(map)), (value) => {
			const [used, made, named] = results(value);
			const stack = made.rows.length ? side.frames(made) :
				functions(named);

			this.one.body.replaceChildren(side.pane(h("code", {},
				String(map.path ?? address(map))), () =>
				this.app.address.amend({ open: null }),
				() => this.items(map), history(used),
				...stack.length ? [side.stack(this.app,
					"Mapped by, innermost first", stack)] :
				[]));
		});
		if (!this.beside.contains(this.one.element))
			this.beside.replaceChildren(this.one.element);
	}

	private order(): string {
		return this.app.address.oneOf("sort", Object.keys(ORDERS));
	}

	update(): void {
		const { app } = this;

		this.part.show(app.plain("sql", [], maps(this.order())),
			       (value) => {
			const [{ rows }, used] = results(value);

			if (rows.length === 0) {
				this.part.empty("No mapping was recorded: ",
					h("code", {}, "gnomon run --maps on"),
					" records them.");
				return;
			}
			withNeighbours(rows, used.rows);
			app.whole(({ times }) => {
				this.part.body.replaceChildren(
					this.table.element);
				this.table.show(columns(times.end_ns, rows),
						rows.length, (i) => rows[i],
						this.order());
				this.rows = rows;
				this.open(rows);
			});
		});
		if (this.rows)
			this.open(this.rows);
	}

	close(): void {
		this.part.close();
		this.one.close();
	}
}
