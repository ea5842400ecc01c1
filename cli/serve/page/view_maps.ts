/*
 * Memory: on which pages live blocks lie, to scale, and what was mapped, by whom,
 * and how much of it is resident.
 */
import { fitting } from "../../page/names";
import * as quantity from "../../page/quantity";
import { Cell, Result, results } from "./answers";
import { picture, runsOf, spaces } from "./address_space";
import { h } from "./dom";
import { PINNED } from "./findings";
import { showMenu } from "./menu";
import * as moments from "./moments";
import { Column, Table } from "./table";
import { App, Part, Shown, View, nothing } from "./view";
import * as words from "./words";

type Line = Record<string, Cell>;

const RUNS = 200000;

const PAGES = `select address, pages, page_size, live_bytes, mapping
from pages order by address limit ${RUNS}`;
const MAPS = `select m.map, m.address, m.size, m.bytes, m.begin_ns, m.end_ns,
    m.path, m.origin, m.context, function(m.context) as function,
    readable, writable, executable,
    (select sum(u.rss_bytes) from map_usage u
     where u.snapshot = (select max(snapshot) from snapshots)
        and u.address >= m.address
        and u.address + u.size <= m.address + m.size
        and m.end_ns is null) as rss
from maps m order by m.bytes desc, m.size desc limit 5000`;

const hex = (value: Cell) => `0x${Number(value).toString(16)}`;

const COLUMNS: Column<Line>[] = [
	{ name: "address", title: "Address", wide: 128,
	  cell: (map) => h("code", {}, hex(map.address)) },
	{ name: "size", title: "Mapped", wide: 80, right: true,
	  cell: (map) => quantity.size(Number(map.size)) },
	{ name: "bytes", title: "Left", wide: 80, right: true,
	  help: "of it at the end", cell: (map) => Number(map.bytes) ?
		quantity.size(Number(map.bytes)) : "–" },
	{ name: "rss", title: "Resident", wide: 80, right: true,
	  help: "at the last snapshot, if the " +
	  "kernel tells it apart from its neighbours", cell: (map) => map.rss ?
		quantity.size(Number(map.rss)) : "–" },
	{ name: "access", title: "", wide: 46, cell: (map) => h("code", {},
		(map.readable ? "r" : "-") + (map.writable ? "w" : "-") +
		(map.executable ? "x" : "-")) },
	{ name: "path", title: "What", cell: (map) =>
		map.path === null ? "of no file" : String(map.path) },
	{ name: "origin", title: "By", wide: 120,
	  cell: (map) => String(map.origin ?? "") },
	{ name: "function", title: "In", wide: 170, cell: (map) =>
		h("code", {}, map.context === null ? "" :
			String(map.function ?? "")) },
	{ name: "begin", title: "Made", wide: 82, right: true,
	  cell: (map) => quantity.time(Number(map.begin_ns)) },
	{ name: "end", title: "Gone", wide: 82, right: true, cell: (map) =>
		map.end_ns === null ? "–" : quantity.time(Number(map.end_ns)) },
];

class Memory implements Shown {
	private readonly pages: Part;
	private readonly maps: Part;
	private readonly table: Table<Line>;

	constructor(element: HTMLElement, private readonly app: App) {
		this.pages = new Part(app, "pages");
		this.maps = new Part(app, "maps", "fills");
		this.table = new Table<Line>("mappings", {
			menu: (_, place, map) => showMenu(...place, fitting(
				String(map.path ?? hex(map.address)), 60), [
				{ text: "Blocks that lay in it", link:
					app.address.link({ "address-min":
					hex(map.address), "address-max": hex(
					Number(map.address) +
					Number(map.size) - 1) }, "blocks") },
				{ text: "Who holds memory in it", link:
					app.address.link({ map:
					hex(map.address) }, "groups") },
				{ text: "Alive when it was made", link:
					app.address.link({ "alive-at":
					moments.text(Number(map.begin_ns)) },
					"groups") }]) });
		element.append(h("div", { class: "memory" },
			h("h2", {}, "Pages with live blocks, to scale",
			  h("small", {}, "the darker, the more of a page is " +
			    "live; drag over a bar to look into it, or go in " +
			    "by Ctrl and the wheel"),
			  h("a", { href: app.address.link({ q: PINNED }, "sql") },
			    "Whose blocks keep pages")),
			this.pages.element), h("h2", { class: "maps-title" },
			"Mappings"), this.maps.element);
	}

	private draw({ rows }: Result): void {
		const all = spaces(runsOf(rows));
		const wide = Math.max(200, this.pages.element.clientWidth - 30);

		if (all.length === 0) {
			this.pages.empty(...nothing(this.app,
						    "There is no live block"));
			return;
		}
		this.pages.body.replaceChildren(picture(all, wide,
			Number(rows[0].page_size), (from, to) => this.app.go({
				"address-min": `0x${from.toString(16)}`,
				"address-max": `0x${to.toString(16)}` })));
	}

	update(): void {
		const { app } = this;

		this.pages.show(app.call("sql", [], PAGES), (value) =>
			this.draw(results(value)[0]));
		this.maps.show(app.plain("sql", [], MAPS), (value) => {
			const { rows } = results(value)[0];

			if (rows.length === 0) {
				this.maps.empty("No mapping was recorded: ",
					h("code", {}, "gnomon run --maps on"),
					" records them.");
				return;
			}
			this.maps.body.replaceChildren(this.table.element);
			this.table.show(COLUMNS, rows.length, (i) => rows[i]);
		});
	}

	close(): void {
		this.pages.close();
		this.maps.close();
	}
}

export const memory: View = {
	name: "memory", title: "Memory", key: "m",
	hint: "Where live blocks lie: few of them on many pages is " +
		"fragmentation. Below, what was mapped, by whom, and what of it " +
		"is resident.",
	command: (app) => words.command("report", [["pages", ""],
		...app.address.filters()], app.trace()),
	open: (element, app) => new Memory(element, app),
};
