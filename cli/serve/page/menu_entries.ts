/*
 * The context menus of call stacks, functions, moments and time ranges.
 */
import * as quantity from "../../page/quantity";
import { fitName } from "../../page/names";
import { Changes } from "./address";
import { Figures, Frame } from "./answers";
import { find, h, tell } from "./dom";
import { Item, Items } from "./menu";
import * as moments from "./moments";
import { exactly } from "./options";
import { App } from "./view";
import * as words from "./as_command";

const ROOM = 44;		/* maximum of letters of a name in a menu */

export function say(text: string): void {
	const toast = h("p", { class: "toast" }, text);

	find("toasts").append(toast);
	tell(text);
	setTimeout(() => toast.remove(), 3500);
}

/* Copy to the clipboard, or show the text if the browser refuses. */
export async function copy(text: string, what: string): Promise<void> {
	if (await words.copy(text)) {
		say(`Copied ${what}`);
		return;
	}
	const box = h("textarea", { readonly: true, "aria-label": what }, text);
	const dialog = h("dialog", {}, h("h2", {}, `Copy ${what}`), box,
		h("form", { method: "dialog" }, h("button", {}, "Close")));

	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
	box.select();
}

function link(app: App, text: string, changes: Changes, view?: string,
	      hint?: string): Item {
	return { text, hint, link: app.address.link(changes, view) };
}

/* Add a filter. Several values of a filter are alternatives, so it replaces
 * others; but exclusions add up. */
function only(app: App, text: string, name: string, value: string): Item {
	const others = name.startsWith("not-") ? app.address.all(name)
		.filter((one) => one !== value) : [];

	return link(app, text, { [name]: [...others, value] });
}

export function ofFunction(app: App, frame: Frame): Items {
	const shown = fitName(words.name(frame), ROOM);
	const named = frame.function !== null && frame.named;
	const exact = named ? exactly(frame.function ?? "") : "";

	return [named && only(app, `Only through ${shown}`, "function", exact),
		named && only(app, `Not through ${shown}`, "not-function",
			      exact),
		frame.file ? only(app, `Only file ${words.base(frame.file)}`,
				  "source", exactly(words.base(frame.file))) :
			undefined,
		frame.library ? only(app, `Only library ${frame.library}`,
				     "library", exactly(frame.library)) :
			undefined,
		frame.library ? only(app, `Not library ${frame.library}`,
				     "not-library", exactly(frame.library)) :
			undefined,
		named && link(app, "Callers and callees",
			      { of: frame.function }, "callers"),
		named && link(app, "Its source", { of: frame.function },
			      "source"),
		frame.file ? { text: "Copy file and line", act: () =>
			void copy(`${frame.file}:${frame.line}`,
				  "file and line") } : undefined];
}

/* The menu of a row; times are those of its blocks. */
export function ofRow(app: App, row: Partial<Figures> & { context?: number;
		      site?: number }, stack: Frame[] | undefined): Items {
	const { context, first_ns, last_ns, own_peak_time_ns } = row;
	const site = words.site({ stack, site: row.site });

	return [context !== undefined && only(app, "Only this call stack",
			"context", String(context)),
		context !== undefined && link(app, "Its blocks, one by one",
			{ context }, "blocks"),
		...site ? ofFunction(app, site) : [],
		"line",
		first_ns !== undefined && last_ns !== undefined &&
		last_ns > first_ns && link(app, "Allocated while it allocated",
			{ from: moments.text(first_ns),
			  to: moments.text(last_ns + 1) }),
		own_peak_time_ns !== undefined && own_peak_time_ns > 0 &&
		link(app, `Alive at its own peak, ${quantity.time(
			own_peak_time_ns)}`,
			{ "alive-at": moments.text(own_peak_time_ns) }),
		stack?.length ? { text: "Copy the call stack", act: () =>
			void copy(words.stackText(stack), "call stack") } :
			undefined];
}

export function ofMoment(app: App, ns: number, range: [number, number] | null):
		Items {
	const at = moments.text(ns);
	const said = quantity.time(ns);

	return [link(app, "Alive here", { "alive-at": at }, undefined, said),
		link(app, "Allocated before", { from: null, to: at },
		     undefined, said),
		link(app, "Allocated from here on", { from: at, to: null },
		     undefined, said),
		range && "line",
		range && link(app, "Alive at both ends of the range", {
			"alive-at": moments.text(range[0]),
			"alive-at-2": moments.text(range[1]),
			from: null, to: null }),
		range && link(app, "Allocated in the range, and alive at its end",
			{ "alive-at": moments.text(range[1]) }),
		range && link(app, "What changed over the range", {
			of: "moments", before: moments.text(range[0]),
			after: moments.text(range[1]), from: null, to: null },
			"diff"),
		range && link(app, "All of the time", { from: null, to: null }),
		"line",
		{ text: "Copy the time", hint: said,
		  act: () => void copy(at, "time") }];
}
