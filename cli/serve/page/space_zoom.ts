/*
 * A zoomable range of addresses: the wheel and + and - zoom, down to the bytes
 * of a page; dragging, the sideways wheel and the arrow keys pan. A table below
 * shows whose blocks keep the visible pages. The range is in the URL.
 */
import * as quantity from "../../page/quantity";
import { Memory, Range, hex, runsOf, statement, textOf } from "./address_space";
import { Cell, results } from "./answers";
import { h, debounce } from "./dom";
import { ofRow } from "./menu_entries";
import { placeOf, showMenu } from "./menu";
import { Block, paintRange } from "./space_paint";
import { App, Part } from "./view";

const HIGH = 84;
const CLOSEST = 64;		/* minimum of visible bytes */
const STEP = 1.25;		/* zoom factor for a turn of the wheel */
const PAUSE_MS = 120;		/* before a range is requested */
const BLOCKS_PAGES = 128;	/* maximum of visible pages for which blocks are
				 * loaded */
const BLOCKS = 5000;
const OWNERS = 12;

type Line = Record<string, Cell>;

export class Zoom {
	readonly element = h("section", { class: "zoom", hidden: true });
	private readonly canvas = h("canvas", { class: "zoom-picture",
		tabindex: 0, role: "application", "aria-label": "addresses: " +
		"arrow keys pan, plus and minus zoom, Home shows all, " +
		"Enter filters by the visible range, Escape closes" });
	private readonly said = h("p", { class: "said-line", role: "status" });
	private readonly title = h("h3", {});
	private readonly head = h("div", { class: "zoom-head" });
	private readonly owners: Part;
	private memory: Memory | undefined;
	private near: Memory | undefined;	/* of the visible range */
	private blocks: Block[] = [];
	private range: Range = { from: 0, to: 1 };
	private pulled: { x: number; range: Range } | null = null;
	private frame = 0;
	private told = "";		/* the range in the URL */

	constructor(private readonly app: App) {
		const button = (text: string, title: string, act: () => void) =>
			h("button", { type: "button", class: "small", title,
				      click: act }, text);

		this.owners = new Part(app, "space");
		this.head.append(this.title,
			button("+", "zoom in", () => this.zoom(1 / 2)),
			button("−", "zoom out", () => this.zoom(2)),
			button("Filter by range",
				"only blocks in the visible range",
			       () => this.filter()),
			button("×", "close", () => this.close()));
		this.element.append(this.head, this.canvas, this.said,
				    this.owners.element);
		this.listen();
		new ResizeObserver(() => this.later()).observe(this.element);
	}

	/* Show a range of all known memory; undefined: hide. */
	show(memory: Memory, range: Range | undefined): void {
		const first = this.element.hidden;

		this.memory = memory;
		this.element.hidden = !range;
		if (!range)
			return;
		/* While panning, the URL is updated later. */
		if (first || textOf(range) !== this.told)
			this.range = range;
		this.told = textOf(range);
		this.later();
		this.load();
		if (first)
			this.canvas.focus({ preventScroll: true });
	}

	/* ---- data ---- */

	private all(): Range {
		const { runs, mappings } = this.memory as Memory;
		const ends = [...runs, ...mappings];

		return { from: Math.min(...ends.map(({ from }) => from)),
			 to: Math.max(...ends.map(({ to }) => to)) };
	}

	private load(): void {
		const { from, to } = this.range;
		const page = this.memory?.page ?? 4096;
		const live = this.app.address.get("alive-at") ? "" :
			"with_fate = 'live' and ";
		const inside = `from blocks where ${live}address < ` +
			`${Math.ceil(to)} and address + size > ${Math.floor(from)}`;
		const close = (to - from) / page <= BLOCKS_PAGES;
		const whole = { from: Math.floor(from), to: Math.ceil(to) };

		this.owners.show(this.app.call("sql", [], `${statement(whole)};
select context, function(context) as function, count(*) as blocks,
    sum(size) as bytes, count(distinct address / ${page}) as pages
${inside} group by 1 order by pages desc, bytes desc limit ${OWNERS};
select address, size, function(context) as function
${inside} order by address limit ${close ? BLOCKS : 0}`), (value) => {
			const [runs, owners, blocks] = results(value);

			this.near = { ...this.memory as Memory,
				      runs: runsOf(runs.rows) };
			this.blocks = blocks.rows.map((row) => ({
				from: Number(row.address),
				to: Number(row.address) + Number(row.size),
				name: String(row.function ?? "") }));
			this.later();
			this.drawOwners(owners.rows);
		});
	}

	private drawOwners(rows: Line[]): void {
		if (rows.length === 0) {
			this.owners.empty("There are no live blocks here.");
			return;
		}
		this.owners.body.replaceChildren(h("table", { class: "plain" },
			h("thead", {}, h("tr", {}, ...[
				"Call stack of blocks here",
				"Pages they keep", "Blocks", "Bytes"].map(
				(title) => h("th", { scope: "col" }, title)))),
			h("tbody", {}, ...rows.map((row) => this.owner(row)))));
	}

	private owner(row: Line): HTMLElement {
		const context = Number(row.context);
		const line = h("tr", {}, h("th", { scope: "row" }, h("a", {
			href: this.app.address.link({ context, space: null },
						    "groups") },
			h("code", {}, String(row.function ??
					     "(code in no file)")))),
			...[quantity.count(Number(row.pages)),
			    quantity.count(Number(row.blocks)),
			    quantity.size(Number(row.bytes))]
				.map((text) => h("td", {}, text)));

		line.addEventListener("contextmenu", (event) => showMenu(
			...placeOf(event, line), String(row.function ?? ""),
			ofRow(this.app, { context }, undefined)));
		return line;
	}

	/* ---- drawing ---- */

	private later(): void {
		cancelAnimationFrame(this.frame);
		this.frame = requestAnimationFrame(() => this.draw());
	}

	private draw(): void {
		const { range, near } = this;
		const { from, to } = range;
		const memory = this.memory as Memory;
		const wide = Math.max(100, this.head.clientWidth);
		const known = near?.runs.length && near.runs[0].from <= to &&
			near.runs[near.runs.length - 1].to >= from;

		if (this.element.hidden)
			return;
		paintRange(this.canvas, known ? near : memory, range,
			   [wide, HIGH], this.blocks);
		this.title.replaceChildren(h("code", {}, hex(from)), " – ",
			h("code", {}, hex(to)), ` ${quantity.size(Math.round(
				to - from))}`);
	}

	/* Describe an address. */
	private tell(address: number): void {
		const memory = this.memory as Memory;
		const is = ({ from, to }: Range) => from <= address &&
			address < to;
		const block = this.blocks.find(is);
		const run = (this.near ?? memory).runs.find(is);
		const mapping = memory.mappings.find(is);

		this.said.textContent = `${hex(address)}: ` + (block ?
			`${quantity.size(block.to - block.from)} by ${block.name}` :
			run ? `pages of which ${quantity.percent(run.live,
				run.bytes)} is live` :
			mapping?.allocator ? "free in the allocator" :
			mapping ? mapping.name : "not mapped");
	}

	/* ---- acts ---- */

	private go(from: number, to: number): void {
		const { from: min, to: max } = this.all();
		const long = Math.max(CLOSEST, Math.min(to - from, max - min));
		const middle = (from + to) / 2;
		const begin = Math.max(min, Math.min(max - long,
						     middle - long / 2));

		this.range = { from: begin, to: begin + long };
		this.later();
		this.element.setAttribute("aria-busy", "true");
		this.rest();
	}

	/* Load the range after a pause, and put it into the URL. */
	private readonly rest = debounce(PAUSE_MS, () => {
		this.element.setAttribute("aria-busy", "false");
		if (this.element.hidden)
			return;
		this.told = textOf(this.range);
		this.app.address.amend({ space: this.told });
		this.load();
	});

	/* Zoom by a factor around a position from 0 to 1. */
	private zoom(by: number, about = .5): void {
		const { from, to } = this.range;
		const at = from + about * (to - from);

		this.go(at - (at - from) * by, at + (to - at) * by);
	}

	private move(share: number): void {
		const { from, to } = this.range;
		const by = share * (to - from);

		this.go(from + by, to + by);
	}

	private filter(): void {
		this.app.go({ "address-min": hex(Math.floor(this.range.from)),
			"address-max": hex(Math.ceil(this.range.to) - 1) });
	}

	private close(): void {
		this.app.go({ space: null });
	}

	private listen(): void {
		const { canvas } = this;
		const share = (event: MouseEvent) => {
			const box = canvas.getBoundingClientRect();

			return (event.clientX - box.left) / box.width;
		};
		const at = (event: MouseEvent) => this.range.from +
			share(event) * (this.range.to - this.range.from);

		canvas.addEventListener("wheel", (event) => {
			event.preventDefault();
			if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
				this.move(event.deltaX / canvas.clientWidth);
			else
				this.zoom(event.deltaY > 0 ? STEP : 1 / STEP,
					  share(event));
		}, { passive: false });
		canvas.addEventListener("dblclick", (event) =>
			this.zoom(1 / 4, share(event)));
		canvas.addEventListener("pointerdown", (event) => {
			if (event.button !== 0)
				return;
			this.pulled = { x: share(event), range: this.range };
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", (event) => {
			if (this.pulled) {
				const { x, range: { from, to } } = this.pulled;
				const by = (x - share(event)) * (to - from);

				this.go(from + by, to + by);
			}
			this.tell(at(event));
		});
		for (const end of ["pointerup", "pointercancel"] as const)
			canvas.addEventListener(end, () => {
				this.pulled = null;
			});
		canvas.addEventListener("keydown", (event) => this.key(event));
	}

	private key(event: KeyboardEvent): void {
		const acts: Record<string, () => void> = {
			ArrowLeft: () => this.move(-1 / 8),
			ArrowRight: () => this.move(1 / 8),
			PageUp: () => this.move(-1), PageDown: () => this.move(1),
			"+": () => this.zoom(1 / 2), "=": () => this.zoom(1 / 2),
			"-": () => this.zoom(2), Enter: () => this.filter(),
			Escape: () => this.close(),
			Home: () => this.go(this.all().from, this.all().to) };
		const act = event.ctrlKey || event.metaKey || event.altKey ?
			undefined : acts[event.key];

		if (!act)
			return;
		event.preventDefault();
		event.stopPropagation();
		act();
		this.tell((this.range.from + this.range.to) / 2);
	}

	leave(): void {
		this.owners.close();
	}
}
