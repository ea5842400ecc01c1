/*
 * The pane beside a table with the details of the open row.
 */
import * as quantity from "../../page/quantity";
import { Figures, Frame, Result } from "./answers";
import { Child, h } from "./dom";
import { ofFunction } from "./menu_entries";
import { Items, placeOf, showMenu } from "./menu";
import { FIGURES, figure } from "./rows";
import { App } from "./view";
import * as words from "./as_command";

function where(frame: Frame): string {
	return [words.place(frame), frame.file ? frame.library ?? "" : "",
		frame.inlined ? "(inlined)" : ""].filter(Boolean).join(" · ");
}

/* A statement for the frames of a call stack, innermost first. */
export function asksFrames(context: unknown): string {
	return "select s.function, s.file, s.line, s.library, f.named, " +
		"f.inlined from stacks s join frames f using (frame) where " +
		`s.context = ${Number(context ?? -1)} order by s.depth`;
}

/* Parses its result. */
export function frames({ rows }: Result): Frame[] {
	return rows.map((row) => ({ function: row.function as string | null,
		named: row.named === 1, file: row.file as string | null,
		line: Number(row.line ?? 0), library: row.library as string |
			null, inlined: row.inlined === 1 }));
}

/* Each function has a menu, by the right mouse button or a click. */
export function stack(app: App, title: string, all: Frame[]): HTMLElement {
	return h("section", { class: "side-stack" }, h("h3", {}, title),
		h("ol", { class: "frames" }, ...all.map((frame) => {
			const button = h("button", { type: "button",
				"aria-haspopup": "menu" },
				h("code", {}, words.name(frame)),
				h("small", { title: frame.file ?? "" },
				  where(frame)));
			const open = (event: MouseEvent) => showMenu(
				...placeOf(event, button), words.name(frame),
				ofFunction(app, frame));

			button.addEventListener("click", open);
			button.addEventListener("contextmenu", open);
			return h("li", {}, button);
		})));
}

export function figures(row: Figures): HTMLElement {
	const more: [string, string][] = [
		["First", quantity.time(row.first_ns)],
		["Last", quantity.time(row.last_ns)],
		["Own peak after", figure("ns", row.own_peak_time_ns)],
		["Freed", figure("bytes", row.freed_bytes)],
		["Frees", figure("count", row.frees)]];

	return h("dl", { class: "side-figures" },
		...[...FIGURES.map(({ title, unit, of }): [string, string] =>
			[title, figure(unit, of(row))]), ...more]
			.map(([title, value]) => h("div", {},
				h("dt", {}, title), h("dd", {}, value))));
}

export function pane(title: Child, close: () => void, items: () => Items,
		     ...parts: Child[]): HTMLElement {
	const more = h("button", { type: "button", class: "small",
				   "aria-haspopup": "menu" }, "Actions…");

	more.addEventListener("click", (event) => {
		const box = more.getBoundingClientRect();

		event.preventDefault();
		showMenu(box.left, box.bottom + 4, "", items());
	});
	return h("aside", { class: "side", "aria-label": "the open row" },
		h("div", { class: "side-head" }, h("h2", {}, title), more,
		  h("button", { type: "button", class: "small", title: "close",
				"aria-label": "close", click: close }, "×")),
		...parts);
}
