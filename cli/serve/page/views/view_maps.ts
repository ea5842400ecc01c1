/*
 * Memory: the parts of resident memory; the address space to scale, with live
 * blocks and the pages they keep; and the mappings.
 */
import * as space from "../address_space";
import { Cell, results } from "../answers";
import { h } from "../dom";
import { PINNED, pinnedBy } from "../findings";
import { Mappings } from "../maps_table";
import { RESIDENCY, residentFigure } from "../memory_figure";
import { bars } from "../space_bars";
import { Zoom } from "../space_zoom";
import { App, Part, Shown, View, emptyMessage } from "../view";
import * as words from "../as_command";

const KEY: [string, string][] = [["k0", "live"],
	["kept", "free, on pages that live blocks keep"],
	["free", "the allocator's other pages"], ["other", "other mappings"],
	["gap", "not mapped"]];

class MemoryView implements Shown {
	private readonly pages: Part;
	private readonly figure: Part;
	private readonly zoom: Zoom;
	private readonly maps: Mappings;
	private known: space.Memory | undefined;

	constructor(element: HTMLElement, private readonly app: App) {
		this.figure = new Part(app, "residency");
		this.pages = new Part(app, "pages");
		this.zoom = new Zoom(app);
		this.maps = new Mappings(app);
		element.append(h("div", { class: "memory" },
			h("h2", {}, "Resident memory"), this.figure.element,
			h("h2", {}, "Addresses, to scale", h("small", {},
			  "click a bar to zoom in, drag over it to filter"),
			  h("a", { href: app.address.link({ q: PINNED }, "sql") },
			    "Whose blocks keep pages")),
			h("ul", { class: "space-key" }, ...KEY.map(
				([kind, name]) => h("li", {}, h("i", { class:
				`swatch ${kind}` }), name))),
			this.zoom.element, this.pages.element), h("h2",
			{ class: "maps-title" }, "Mappings"), this.maps.element);
	}

	private only(): space.Range | undefined {
		const of = (name: string) => this.app.address.get(name);
		const from = of("address-min"), to = of("address-max");

		return from === undefined && to === undefined ? undefined :
			{ from: Number(from ?? 0),
			  to: Number(to ?? Number.MAX_SAFE_INTEGER) + 1 };
	}

	private draw(memory: space.Memory): void {
		const all = space.spacesOf(memory, this.only());
		const wide = Math.max(200, this.pages.element.clientWidth - 30);

		this.zoom.show(memory, space.rangeOf(this.app.address
			.get("space")));
		if (all.length === 0) {
			this.pages.empty(...emptyMessage(this.app,
						    "There is no live block"));
			return;
		}
		this.pages.body.replaceChildren(bars(memory, all, wide, {
			filter: (from, to) => this.app.go({
				"address-min": space.hex(from),
				"address-max": space.hex(to) }),
			look: (range) => this.app.go({ space:
				space.textOf(range) }) }));
	}

	update(): void {
		const { app } = this;

		this.figure.show(app.plain("sql", [], RESIDENCY), (value) => {
			const rows: Record<string, Cell>[] =
				results(value)[0].rows;
			const made = residentFigure(rows[0]);

			if (made)
				this.figure.body.replaceChildren(made);
			else
				this.figure.empty(
					"Unknown: there is no snapshot of " +
					"memory. ", h("code", {},
					"gnomon run --snapshot-every 1s"),
					" takes snapshots.");
		});
		this.pages.show(app.call("sql", [], `${space.statement()};
${space.MAPPINGS}`), (value) => {
			const [runs, mappings] = results(value);

			this.known = { runs: space.runsOf(runs.rows),
				mappings: space.mappingsOf(mappings.rows),
				page: Number(runs.rows[0]?.page ?? 4096) };
			this.draw(this.known);
		});
		if (this.known)
			this.zoom.show(this.known, space.rangeOf(app.address
				.get("space")));
		this.maps.update();
	}

	close(): void {
		this.figure.close();
		this.pages.close();
		this.zoom.leave();
		this.maps.close();
	}
}

export const memory: View = {
	name: "memory", title: "Memory", key: "m",
	hint: "The address space with its live blocks: few blocks on many " +
		"pages are fragmentation. Click a bar to zoom in, down to " +
		"single blocks. Below are the mappings, their origins, and " +
		"their resident memory.",
	command: (app) => words.command("report", [["pages", ""],
		...app.address.filters()], app.trace()),
	sql: (app) => pinnedBy(words.where("pinned", app.address.filters())),
	open: (element, app) => new MemoryView(element, app),
};
