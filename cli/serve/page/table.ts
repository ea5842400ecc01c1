/*
 * Tables of any length: only visible rows are elements. Arrow keys, Page and
 * Home move the current row; Enter or a click opens it; the right mouse button
 * opens its menu.
 */
import { Child, h } from "./dom";
import { placeOf } from "./menu";

export const ROW = 25;		/* points */
const NAME = 190;		/* minimum width of a name */
const BEYOND = 12;		/* rows drawn beyond the visible ones */
/* Browsers cannot scroll further than this many points. In longer tables, the
 * scrollbar moves faster than the rows. */
const TALLEST = 15e6;

export interface Column<R> {
	name: string;
	title: string;
	help?: string;
	wide?: number;		/* points; none: the remaining width, */
	min?: number;		/* with this minimum */
	right?: boolean;
	sorts?: boolean;
	rises?: boolean;	/* sorts in ascending order */
	cell(row: R): Child;
	/* From 0 to 1: draws a bar behind the cell. */
	share?(row: R): number;
}

export interface TableActs<R> {
	sort?(column: string): void;
	open?(row: R, index: number): void;
	menu?(event: MouseEvent, place: [number, number], row: R): void;
	/* A key unknown to the table; returns true if handled. */
	key?(key: string, row: R, index: number): boolean;
	/* Some of the visible rows are not loaded. */
	want?(first: number, last: number): void;
}

export class Table<R> {
	readonly element: HTMLElement;
	private readonly head = h("div", { class: "t-head", role: "row" });
	private readonly room = h("div", { class: "t-room" });
	private readonly inside = h("div", { class: "t-rows",
					     role: "rowgroup" });
	private readonly id = `t${Math.random().toString(36).slice(2, 8)}`;
	private columns: Column<R>[] = [];
	private row: (index: number) => R | undefined = () => undefined;
	private count = 0;
	private current = 0;
	private opened = -1;
	private pressed = -1;
	private asked = 0;

	constructor(label: string, private readonly acts: TableActs<R>) {
		this.room.append(this.inside);
		this.element = h("div", { class: "table", role: "grid",
			tabindex: 0, "aria-label": label }, this.head, this.room);
		this.element.addEventListener("scroll", () => this.later());
		this.element.addEventListener("keydown", (event) =>
			this.key(event));
		this.element.addEventListener("contextmenu", (event) =>
			this.menu(event));
		/* Rows may be redrawn before the button is released: the click
		 * then misses and means the pressed row. */
		this.inside.addEventListener("pointerdown", (event) => {
			this.pressed = this.rowAt(event);
		});
		this.inside.addEventListener("click", (event) => {
			const at = this.rowAt(event);

			if (!(event.target as Element).closest("a"))
				this.open(at >= 0 ? at : this.pressed);
		});
		new ResizeObserver(() => this.later()).observe(this.element);
	}

	/* `sorted`: the sort column, largest first. */
	show(columns: Column<R>[], count: number,
	     row: (index: number) => R | undefined, sorted?: string): void {
		this.columns = columns;
		this.count = count;
		this.row = row;
		this.current = Math.min(this.current, Math.max(0, count - 1));
		this.element.setAttribute("aria-rowcount", String(count));
		this.widths();
		this.drawHead(sorted);
		this.later();
	}

	/* Highlight the open row; -1: none. */
	mark(index: number): void {
		this.opened = index;
		if (index >= 0)
			this.current = index;
		this.later();
	}

	toTop(): void {
		this.element.scrollTop = 0;
		this.current = 0;
		this.opened = -1;
	}

	focus(): void {
		this.element.focus();
	}

	select(index: number): void {
		this.goTo(index);
	}

	/* ---- drawing ---- */

	private widths(): void {
		const template = this.columns.map(({ wide, min }) => wide ?
			`${wide}px` : `minmax(${min ?? NAME}px, 1fr)`)
			.join(" ");
		const min = this.columns.reduce((sum, one) =>
			sum + (one.wide ?? one.min ?? NAME), 16);

		this.element.style.setProperty("--columns", template);
		this.element.style.setProperty("--table-min", `${min}px`);
	}

	private drawHead(sorted: string | undefined): void {
		this.head.replaceChildren(...this.columns.map((column) => {
			const { name, title, help, right, sorts, rises } = column;
			const on = name === sorted;

			return h("div", { class: right ? "t-cell right" :
				"t-cell", role: "columnheader", title: help,
				"aria-sort": on ? rises ? "ascending" :
					"descending" : undefined },
				sorts ? h("button", { type: "button",
					click: () => this.acts.sort?.(name) },
					on ? `${title} ${rises ? "↑" : "↓"}` :
					title) : title);
		}));
	}

	later(): void {
		cancelAnimationFrame(this.asked);
		this.asked = requestAnimationFrame(() => this.draw());
	}

	private tall(): number {
		return Math.min(TALLEST, this.count * ROW);
	}

	/* The first visible row, possibly fractional. */
	private first(): number {
		const all = this.count * ROW;
		const high = this.element.clientHeight - ROW;
		const way = this.tall() - high;

		if (all <= TALLEST || way <= 0)
			return this.element.scrollTop / ROW;
		return this.element.scrollTop / way * (all - high) / ROW;
	}

	private draw(): void {
		const { element: scroller, inside, count } = this;
		const high = Math.ceil(scroller.clientHeight / ROW);
		const top = this.first();
		const from = Math.max(0, Math.floor(top) - BEYOND);
		const to = Math.min(count, Math.ceil(top) + high + BEYOND);
		const lines: HTMLElement[] = [];
		let unknown = false;

		this.room.style.height = `${this.tall()}px`;
		inside.style.transform = `translateY(${scroller.scrollTop -
			(top - from) * ROW}px)`;
		for (let i = from; i < to; i++) {
			const row = this.row(i);

			unknown = unknown || row === undefined;
			lines.push(this.line(row, i));
		}
		inside.replaceChildren(...lines);
		this.element.setAttribute("aria-activedescendant", count ?
			`${this.id}-${this.current}` : "");
		this.element.setAttribute("aria-busy", String(unknown));
		if (unknown)
			this.acts.want?.(from, to);
	}

	private line(row: R | undefined, index: number): HTMLElement {
		const kind = [index === this.opened ? "opened" : "",
			      index === this.current ? "current" : ""];

		return h("div", { class: `t-row ${kind.join(" ")}`,
			role: "row", id: `${this.id}-${index}`,
			"aria-rowindex": index + 1, "data-row": index,
			"aria-selected": String(index === this.opened) },
			...this.columns.map((column) =>
				this.cell(column, row)));
	}

	private cell(column: Column<R>, row: R | undefined): HTMLElement {
		const cell = h("div", { class: column.right ? "t-cell right" :
			"t-cell", role: "gridcell" }, row === undefined ?
			"…" : column.cell(row));

		if (row !== undefined && column.share) {
			const part = Math.max(0, Math.min(1,
							  column.share(row)));

			cell.classList.add("bar-cell");
			cell.style.setProperty("--share", `${part * 100}%`);
		}
		if (!column.right)
			cell.title = cell.textContent ?? "";
		return cell;
	}

	/* ---- mouse and keys ---- */

	private rowAt(event: Event): number {
		const line = (event.target as Element).closest<HTMLElement>(
			".t-row");

		return line ? Number(line.dataset.row) : -1;
	}

	private open(index: number): void {
		const row = this.row(index);

		if (index < 0)
			return;
		this.current = index;
		this.later();
		if (row !== undefined)
			this.acts.open?.(row, index);
	}

	private menu(event: MouseEvent): void {
		const at = this.rowAt(event);
		const index = at >= 0 ? at : this.current;
		const row = this.row(index);
		const line = document.getElementById(`${this.id}-${index}`);

		if (row === undefined || !this.acts.menu)
			return;
		this.current = index;
		this.later();
		this.acts.menu(event, placeOf(event, line ?? this.element),
			       row);
	}

	private key(event: KeyboardEvent): void {
		const page = Math.max(1, Math.floor(
			this.element.clientHeight / ROW) - 2);
		const steps: Record<string, number> = { ArrowDown: 1,
			ArrowUp: -1, PageDown: page, PageUp: -page,
			Home: -Infinity, End: Infinity };
		const step = steps[event.key];

		const row = this.row(this.current);

		if (event.target !== this.element)
			return;
		if (row !== undefined && !event.ctrlKey && !event.altKey &&
		    this.acts.key?.(event.key, row, this.current))
			event.stopPropagation();
		else if (event.key === "Enter" && this.count)
			this.open(this.current);
		else if (step !== undefined)
			this.goTo(this.current + step);
		else
			return;
		event.preventDefault();
	}

	private goTo(index: number): void {
		const { element: scroller, count } = this;
		const high = scroller.clientHeight - 2 * ROW;

		this.current = Math.max(0, Math.min(count - 1, index));
		if (count * ROW <= TALLEST) {
			const y = this.current * ROW;

			if (y < scroller.scrollTop)
				scroller.scrollTop = y;
			else if (y > scroller.scrollTop + high)
				scroller.scrollTop = y - high;
		} else {
			scroller.scrollTop = this.current / count *
				this.tall();
		}
		this.later();
	}
}
