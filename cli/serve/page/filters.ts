/*
 * The bar of active filters, which can be removed or inverted; and the dialog
 * with all filters.
 */
import { h, find, tell } from "./dom";
import * as moments from "./moments";
import { Filter, GROUPS, filter, readable } from "./options";
import { App } from "./view";

const TIMES = new Set(["from", "to", "alive-at", "alive-at-2"]);

/* Readable texts for some filter values. */
const VALUES: Record<string, string> = { "chain-live": "its realloc chain is live",
	"group-live": "its call stack has live blocks" };

function shown(name: string, value: string): string {
	return TIMES.has(name) ? moments.readable(value) :
		name === "fate" ? VALUES[value] ?? value : readable(value);
}

/* From and to form one chip: the brushed range. */
function timeChip(app: App): HTMLElement | null {
	const from = app.address.get("from"), to = app.address.get("to");

	if (from === undefined && to === undefined)
		return null;
	const text = `${from === undefined ? "start" : moments.readable(from)} – ` +
		(to === undefined ? "end" : moments.readable(to));
	return chip("allocated", text, undefined, () =>
		app.go({ from: null, to: null }));
}

function chip(label: string, text: string, flip: (() => void) | undefined,
	      remove: () => void): HTMLElement {
	const name = `${label} ${text}`;

	return h("li", { class: "chip" },
		flip ? h("button", { type: "button", class: "chip-label",
			title: "invert", click: flip,
			"aria-label": `${label}: turn round` }, label) :
			h("span", { class: "chip-label" }, label),
		h("span", { class: "chip-text", title: text }, text),
		h("button", { type: "button", class: "chip-remove",
			"aria-label": `remove filter ${name}`, title: "remove",
			click: () => {
				remove();
				tell(`removed ${name}`);
			} }, "×"));
}

function chips(app: App): HTMLElement[] {
	const { address } = app;
	const others = address.filters().filter(([name]) =>
		name !== "from" && name !== "to");

	return [timeChip(app), ...others.map(([name, value]) => {
		const one = filter(name) as Filter;
		const flips = one.flips;

		return chip(one.label, shown(name, value), flips ? () =>
			address.go({ [name]: address.all(name).filter(
				(other) => other !== value),
				[flips]: [...address.all(flips), value] }) :
			undefined, () => address.removeFilter(name, value));
	})].filter((one): one is HTMLElement => one !== null);
}

/* ---- the dialog ---- */

function field(app: App, one: Filter): HTMLElement {
	const value = app.address.get(one.name) ?? "";
	const input = one.values ? h("select", { name: one.name },
		h("option", { value: "" }, ""), ...one.values.map((word) =>
			h("option", { value: word, selected: word === value },
			  VALUES[word] ?? word))) :
		h("input", { name: one.name, value,
			     placeholder: one.example, spellcheck: "false",
			     autocomplete: "off" });

	return h("label", { class: "field" }, h("span", {}, one.label), input);
}

function apply(app: App, form: HTMLFormElement): void {
	const changes: Record<string, string | null> = {};

	for (const [name, value] of new FormData(form)) {
		const text = String(value).trim();

		if (text !== (app.address.get(name) ?? ""))
			changes[name] = text === "" ? null : text;
	}
	app.go(changes);
}

export function filterDialog(app: App): void {
	const form = h("form", { method: "dialog", class: "filters-form" },
		h("h2", {}, "Filters"),
		h("p", { class: "quiet" }, "All filters must match. They are " +
		  "the options of gnomon report: names are regular " +
		  "expressions."),
		h("div", { class: "filter-groups" }, ...GROUPS.map((group) =>
			h("fieldset", {}, h("legend", {}, group.title),
			  ...group.filters.map((one) => field(app, one))))),
		h("div", { class: "dialog-foot" },
		  h("button", { value: "" , formnovalidate: true }, "Cancel"),
		  h("button", { value: "apply", class: "primary" }, "Apply")));
	const dialog = h("dialog", { class: "wide", "aria-label": "Filters" },
			 form);

	/* Enter in a field must apply the form, not press its first button. */
	form.addEventListener("keydown", (event) => {
		if (event.key === "Enter" &&
		    event.target instanceof HTMLInputElement) {
			event.preventDefault();
			dialog.close("apply");
		}
	});
	dialog.addEventListener("close", () => {
		if (dialog.returnValue === "apply")
			apply(app, form);
		dialog.remove();
	});
	document.body.append(dialog);
	dialog.showModal();
	form.querySelector<HTMLElement>("input")?.focus();
}

/* Called at each change of the URL. */
export function filterBar(app: App): void {
	const bar = find("filters");
	const all = chips(app);
	const add = h("button", { type: "button", class: "small",
				  title: "add a filter (f)" }, "+ Filter");

	add.addEventListener("click", () => filterDialog(app));
	bar.replaceChildren(
		h("ul", { "aria-label": "active filters" }, ...all.length ?
			all : [h("li", { class: "quiet" },
				 "All allocations. Drag over a timeline, or " +
				 "add a filter.")]), add);
	if (all.length > 1) {
		const none: Record<string, null> = {};

		for (const [name] of app.address.filters())
			none[name] = null;
		bar.append(h("button", { type: "button", class: "small",
			click: () => app.go(none) }, "Remove all"));
	}
}
