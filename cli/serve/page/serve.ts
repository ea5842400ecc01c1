/*
 * The page of `gnomon serve`: the current view and trace, and everything around
 * the views. A view is a module (view_*.ts) that makes its calls and draws
 * itself.
 */
import * as quantity from "../../page/quantity";
import { Address, Changes, Pair } from "./address";
import { Report, Summary, Trace } from "./answers";
import { Call, Progress, Stale, ask, progress, url } from "./server_call";
import { h, find, isTyping, tell } from "./dom";
import { filterBar, filterDialog } from "./filters";
import { copy } from "./menu_entries";
import { closeMenu, menuOf } from "./menu";
import { QUICK } from "./own_peaks";
import { Strip } from "./overview_strip";
import { App, Shown, View, redraw } from "./view";
import { VIEWS } from "./views";
import * as words from "./as_command";

const FORMATS: [string, string][] = [
	["pprof", "pprof"], ["json", "JSON"], ["csv", "CSV"],
	["speedscope", "Speedscope"], ["collapsed", "folded stacks"],
	["heaptrack", "heaptrack"], ["massif", "Massif"], ["dhat", "DHAT"],
	["callgrind", "Callgrind"], ["firefox", "Firefox Profiler"],
	["flamegraph.svg", "flame graph, SVG"],
	["flamegraph.html", "flame graph, page"] ];

const AGAIN_MS = 5000;

const address = new Address();
let traces: Trace[] = [];
let summary: Summary | undefined;
let summaryOf = "";		/* id of its trace */
let shown: { view: View; element: HTMLElement; shown: Shown } | undefined;
let shownState = "";		/* of all traces, when they were drawn */
let strip: Strip | undefined;

/* The trace that the URL names, or the first if it names none; undefined: it is
 * not served. */
function chosenTrace(): Trace | undefined {
	const id = address.get("trace");

	return id === undefined ? traces[0] :
		traces.find((one) => one.id === id) ??
		traces.find((one) => one.name === `${id}.trace`);
}

/* Views are only open while the trace is served. */
function trace(): Trace {
	return chosenTrace() ?? traces[0];
}

function plain(what: string, params: Pair[] = [], body?: string): Call {
	return { path: `traces/${encodeURIComponent(trace().id)}/${what}`,
		 params: what === "sql" ? [["no-summary", ""], ...params] :
			params, body };
}

const app: App = {
	address,
	get traces() {
		return traces;
	},
	trace,
	summary: () => summary,
	plain,
	call: (what, params = [], body) => plain(what,
		[...params, ...address.filters()], body),
	go: (changes: Changes, view?: string) => address.go(changes, view),
	whole: (then) => strip?.whole(then),
};

/* ---- around the views ---- */

function navigation(): void {
	redraw(find("views"), ...VIEWS.map((view) => h("a", {
		href: address.link({}, view.name),
		"aria-current": shown?.view === view ? "page" : undefined,
		title: `${view.title} (g ${view.key})` }, view.title)));
}

function showHeading(): void {
	const one = trace();
	const list = find<HTMLSelectElement>("trace");

	list.replaceChildren(...traces.map((other) => h("option", {
		value: other.id, selected: other.id === one.id },
		other.name)));
	find("live").hidden = !one.live;
	document.title = `${shown?.view.title ?? ""} – ${one.name} – gnomon`;
}

function showProgram(): void {
	if (!summary)
		return;
	find("what").textContent = [summary.command || summary.program,
		`pid ${summary.pid}`, quantity.time(summary.duration_ns),
		summary.exit].filter(Boolean).join(" · ");
	find("what").title = summary.command;
}

/* A report with a table has no findings, which take longer. The overview needs
 * findings anyway: there one call is enough. */
const SUMMARY: Pair[] = [["by", "site"], ["sort", "peak"], ["top", "1"],
	...QUICK];
const FINDINGS: Pair[] = [["top", "1"], ...QUICK];

const summaryCall = () => plain("report",
	address.view === VIEWS[0].name && address.filters().length === 0 ?
		FINDINGS : SUMMARY);

async function summarize(): Promise<void> {
	try {
		const { value } = await ask("summary", summaryCall());
		summary = (value as Report).summary;
		showProgram();
		shown?.shown.update();
	} catch (error) {
		if (error instanceof Stale)
			return;
		find("what").textContent = trace().error ?? "";
	}
	strip?.update();
}

/* A hint for the first visit of a view; it can be dismissed for good. */
function hint(view: View): HTMLElement | null {
	const key = `gnomon-hint-${view.name}`;
	const known = () => {
		try {
			return localStorage.getItem(key);
		} catch {
			return "1";
		}
	};

	if (known())
		return null;
	const line = h("p", { class: "first-hint" }, view.hint,
		h("button", { type: "button", class: "small", click: () => {
			line.remove();
			try {
				localStorage.setItem(key, "1");
			} catch {
				return;
			}
		} }, "Got it"));
	return line;
}

function open(view: View): void {
	const element = h("div", { class: `view view-${view.name}` });
	const first = hint(view);

	shown?.shown.close?.();
	find("view").replaceChildren(...first ? [first] : [],
		h("h1", { class: "hidden" }, view.title), element);
	find("view").scrollTop = 0;
	shown = { view, element, shown: view.open(element, app) };
	tell(view.title);
}

/* Do not show another trace instead. */
function showNotServed(): void {
	const list = find<HTMLSelectElement>("trace");
	const id = address.get("trace") ?? "";

	shown?.shown.close?.();
	shown = undefined;
	summary = undefined;
	summaryOf = "";
	delete list.dataset.of;
	list.replaceChildren(h("option", { value: id, selected: true }, id),
		...traces.map((one) => h("option", { value: one.id },
					 one.name)));
	find("live").hidden = true;
	find("what").textContent = "";
	find("strip").hidden = true;
	document.title = "not served – gnomon";
	find("view").replaceChildren(h("div", { class: "state", role: "alert" },
		h("p", {}, `The trace “${id}” is not served. It was not named ` +
		  "when the server was started, or the file is gone. Others " +
		  "are:"),
		h("ul", {}, ...traces.map((one) => h("li", {},
			h("a", { href: address.link({ trace: one.id }) },
			  one.name))))));
	tell("This trace is not served.");
}

function update(): void {
	const view = VIEWS.find(({ name }) => name === address.view) ??
		VIEWS[0];
	const before = summary && find("trace").dataset.of;

	shownState = state();
	if (!chosenTrace()) {
		showNotServed();
		navigation();
		return;
	}
	if (address.view !== view.name) {
		address.view = view.name;
		history.replaceState(null, "", address.link({}));
	}
	if (before !== `${trace().id} ${trace().generation}`) {
		/* The summary of another trace does not apply. */
		if (summaryOf !== trace().id)
			summary = undefined;
		summaryOf = trace().id;
		find("trace").dataset.of = `${trace().id} ${trace().generation}`;
		void summarize();
	}
	if (shown?.view !== view)
		open(view);
	navigation();
	showHeading();
	filterBar(app);
	/* Slower calls wait for the first answer. */
	if (summary)
		strip?.update();
	find("strip").hidden = view.name === VIEWS[0].name;
	shown?.shown.update();
}

/* ---- keys ---- */

const KEYS: [string, string][] = [
	["g, then a letter", "go to a view"], ["f", "filters"],
	["/", "search in the view"], ["?", "this list"],
	["right button, Shift F10", "menu of a row, box or moment"],
	["← → in a timeline", "the values of a moment"],
	["Shift ← →", "brush a range of time"],
	["Esc", "close, or remove the range"],
	["↑ ↓ Enter in a table", "rows; open one"] ];

function help(): void {
	const dialog = h("dialog", { "aria-label": "help" },
		h("h2", {}, "Keys"),
		h("dl", { class: "keys" }, ...[...KEYS, ...VIEWS.map(
			(view): [string, string] => [`g ${view.key}`,
						     view.title])]
			.flatMap(([key, what]) => [h("dt", {}, h("kbd", {},
				key)), h("dd", {}, what)])),
		h("form", { method: "dialog" },
		  h("button", { class: "primary" }, "Close")));

	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}

let goes = false;

function onKey(event: KeyboardEvent): void {
	if (isTyping(event) || event.ctrlKey || event.metaKey ||
	    event.altKey || document.querySelector("dialog[open]"))
		return;
	const view = goes ? VIEWS.find(({ key }) => key === event.key) :
		undefined;
	goes = false;
	if (view)
		app.go({}, view.name);
	else if (event.key === "g")
		goes = true;
	else if (event.key === "f")
		filterDialog(app);
	else if (event.key === "?")
		help();
	else if (event.key === "/" && shown?.shown.search)
		shown.shown.search();
	else
		return;
	event.preventDefault();
	event.stopPropagation();
}

function buttons(): void {
	menuOf(find("copy"), "Copy", () => [
		{ text: "Link to this view", act: () =>
			void copy(location.href, "link") },
		{ text: "As gnomon command", act: () => void copy(
			shown?.shown.command?.() ??
			shown?.view.command?.(app) ?? words.command("report",
			address.filters(), trace()), "command") },
		{ text: "As SQL", act: () => void copy(shown?.shown.sql?.() ??
			shown?.view.sql?.(app) ?? words.sums(
				"function, library", "live_bytes",
				address.filters()), "SQL") }]);
	menuOf(find("export"), "Export the selected blocks as", () =>
		FORMATS.map(([format, text]) => ({ text,
			link: url(app.call(`export/${format}`)) })));
	find("help").addEventListener("click", help);
	find("skip").addEventListener("click", () => find("view").focus());
	find("trace").addEventListener("change", () =>
		address.go({ trace: find<HTMLSelectElement>("trace").value }));
	/* Handle keys before the flame graph does. */
	document.addEventListener("keydown", onKey, true);
}

/* ---- new and growing traces ---- */

/* `slot` of the call (server_call.ts). */
async function list(slot: string): Promise<void> {
	const { value } = await ask(slot, { path: "traces", params: [] });

	traces = (value as { traces: Trace[] }).traces;
}

/* A new event stream first sends each trace once, changed or not: redraw only
 * if the state differs. */
async function reloadTraces(isSure = false): Promise<void> {
	try {
		await list("events");
	} catch {
		return;
	}
	if (isSure || state() !== shownState)
		refresh();
}

/* The browser reconnects by itself, unless the server refused the stream: then
 * retry later. */
function follow(): void {
	const events = new EventSource(new URL("api/v1/events",
		location.href.split("#")[0]));

	events.addEventListener("trace", () => void reloadTraces());
	/* Events from before the connection, or during an interruption, are not
	 * sent. */
	events.addEventListener("open", () => {
		const wasGone = !find("gone").hidden;

		find("gone").hidden = true;
		void reloadTraces(wasGone);
	});
	events.addEventListener("progress", ({ data }) =>
		progress(JSON.parse(String(data)) as Progress));
	events.addEventListener("error", () => {
		if (find("gone").hidden)
			tell("The server does not answer.");
		find("gone").hidden = false;
		if (events.readyState === EventSource.CLOSED)
			setTimeout(follow, AGAIN_MS);
	});
}

/* A text that changes when any trace changes. */
function state(): string {
	return traces.map((one) => [one.id, one.generation, one.live,
		one.error].join(" ")).join("\n");
}

function refresh(): void {
	if (traces.length && strip)
		update();
	else
		void start();
}

function showNoTrace(...why: string[]): void {
	find("view").replaceChildren(h("div", { class: "state" },
		...why.map((text) => h("p", {}, text)),
		h("button", { type: "button", click: () => void start() },
		  "Look again")));
}

async function start(): Promise<void> {
	find("view").replaceChildren(h("p", { class: "state" }, "Loading…"));
	try {
		await list("traces");
	} catch (error) {
		/* A newer start() has replaced this one. */
		if (!(error instanceof Stale))
			showNoTrace("The server does not answer.",
				(error as Error).message);
		return;
	}
	if (traces.length === 0) {
		showNoTrace("There is no trace yet.", "Record one with " +
			"`gnomon run PROGRAM`; it appears here by itself.");
		return;
	}
	if (!strip) {
		strip = new Strip(app);
		/* Close menus when the URL changes, but not when a trace
		 * grows. */
		address.listen(() => {
			closeMenu();
			update();
		});
	}
	update();
}

buttons();
follow();
void start();
