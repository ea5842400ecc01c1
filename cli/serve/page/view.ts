/*
 * The interface of a view, and the parts it consists of. A part calls the
 * server, shows loading, empty and error states, and draws the result. It does
 * not repeat the same call, and never draws an answer that a newer call made
 * stale.
 */
import { Address, Changes, Pair } from "./address";
import { Summary, Trace } from "./answers";
import { Answer, Call, Gone, Progress, Stale, Wrong, ask, drop, sameCall, watch }
	from "./server_call";
import { Child, h, tell } from "./dom";
import { Filter, filter } from "./options";
import type { Whole } from "./overview_strip";

const PATIENCE_MS = 150;	/* before "Loading…" appears */

/* The interface of the page to its views. */
export interface App {
	readonly address: Address;
	readonly traces: Trace[];
	trace(): Trace;
	summary(): Summary | undefined;
	/* A call for the chosen trace, with the active filters. */
	call(what: string, params?: Pair[], body?: string): Call;
	/* The same without filters. */
	plain(what: string, params?: Pair[], body?: string): Call;
	go(changes: Changes, view?: string): void;
	/* Calls `then` when the timeline of the whole recording is known. */
	whole(then: (whole: Whole) => void): void;
}

export interface Shown {
	/* The address changed, or the trace has grown. */
	update(): void;
	close?(): void;
	/* The equivalent gnomon command, if it differs from the view's. */
	command?(): string;
	/* An equivalent SQL statement, as far as possible. */
	sql?(): string;
	/* "/" was typed: focus the search field, if there is one. */
	search?(): void;
}

export interface View {
	name: string;		/* name in the URL */
	title: string;
	key: string;		/* key after g */
	hint: string;		/* shown on the first visit */
	command?(app: App): string;	/* the equivalent gnomon command */
	sql?(app: App): string;		/* an equivalent SQL statement */
	open(element: HTMLElement, app: App): Shown;
}

/* Descriptions of the placeholders in the commands' messages. */
const GIVE: Record<string, string> = {
	REGEX: "a regular expression, such as parse_.*",
	MOMENT: "a moment: 250ms after the start, 30% of the run, start, or " +
		"@NAME of a marker or snapshot",
	SIZE: "a size, such as 4k or 1M", DURATION: "a duration, such as 10ms",
	N: "a number", ADDRESS: "an address, such as 0x7f00" };

const OF_OPTION = /^(?:gnomon: )?--([\w-]+)[ :]/;

function wrongFilter(message: string): Filter | undefined {
	return filter(OF_OPTION.exec(message)?.[1] ?? "");
}

/* Rewrite a message about an option to name the page's filter. */
function filterMessage(message: string): string {
	const one = wrongFilter(message);

	return (one ? message.replace(OF_OPTION, `Filter “${one.label}”: `) :
		message).replace(/ +/g, " ").replace(/\bgive ([A-Z]+)\b/,
		(all, word: string) => word in GIVE ? `give ${GIVE[word]}` : all);
}

export class Part {
	readonly element: HTMLElement;
	readonly body: HTMLElement;
	private readonly note = h("div", { class: "note", hidden: true });
	private drawn: Call | undefined;
	private wanted: Call | undefined;
	private generation = "";

	/* `quiet`: do not show messages; another part shows them. */
	constructor(private readonly app: App, private readonly slot: string,
		    kind = "", private readonly quiet = false) {
		this.body = h("div", { class: "part-body" });
		this.element = h("section", { class: `part ${kind}` },
				 this.note, this.body);
		watch(slot, (how) => this.tellProgress(how));
	}

	/* Make the call, unless it is the current one, and draw its result. */
	show(call: Call, draw: (value: unknown) => void,
	     refused?: (error: Error) => void): void {
		const now = this.app.traces.filter(({ id }) =>
			call.path.includes(`/${id}/`) ||
			call.params.some(([, value]) => value === id))
			.map(({ generation }) => generation).join(" ");

		if (sameCall(this.wanted, call) && now === this.generation)
			return;
		/* Messages of another call. */
		if (!sameCall(this.wanted, call))
			this.note.hidden = true;
		this.wanted = call;
		this.generation = now;
		void this.load(call, draw, refused);
	}

	private async load(call: Call, draw: (value: unknown) => void,
			   refused?: (error: Error) => void): Promise<void> {
		const slow = setTimeout(() => this.busy(true), PATIENCE_MS);

		this.element.setAttribute("aria-busy", "true");
		try {
			const answer = await ask(this.slot, call);
			clearTimeout(slow);
			this.busy(false);
			this.say(answer);
			draw(answer.value);
			this.drawn = call;
		} catch (error) {
			clearTimeout(slow);
			if (error instanceof Stale)
				return;
			this.busy(false);
			this.failed(error as Error, () => {
				this.busy(true);
				void this.load(call, draw, refused);
			});
			refused?.(error as Error);
		}
	}

	private tellProgress({ what, done, of }: Progress): void {
		this.element.dataset.doing = of > 0 ? `${what}, ${Math.min(100,
			Math.floor(done / of * 100))}%` : what;
	}

	private busy(on: boolean): void {
		this.element.classList.toggle("busy", on);
		if (!on)
			delete this.element.dataset.doing;
		this.element.setAttribute("aria-busy", String(on));
		if (on && !this.drawn && this.body.childElementCount === 0)
			this.body.replaceChildren(h("p", { class: "state" },
				"Loading…"));
	}

	/* Messages about building an index are progress, and obsolete by
	 * now. */
	private say({ messages }: Answer): void {
		const said = messages.filter((message) =>
			!/: indexing about /.test(message));

		this.note.hidden = said.length === 0 || this.quiet;
		this.note.replaceChildren(...said.map((message) =>
			h("p", {}, message.replace(/^gnomon: /, ""))));
	}

	private failed(error: Error, again: () => void): void {
		const gone = error instanceof Gone;

		this.note.hidden = true;
		this.drawn = undefined;
		/* Repeat the call when the server is back. */
		if (gone)
			this.forget();
		tell(error.message);
		this.body.replaceChildren(h("div", { class: "state failed",
						     role: "alert" },
			h("p", {}, gone ? "The server does not answer. Is " +
			  "`gnomon serve` still running?" :
			  filterMessage(error.message)),
			error instanceof Wrong ? this.wayOut(error) :
			h("button", { type: "button", click: again },
			  "Try again")));
	}

	/* Repeating an invalid call would fail again, but the user can remove
	 * the filter. */
	private wayOut({ message }: Wrong): HTMLElement | false {
		const name = wrongFilter(message)?.name;

		return name !== undefined &&
			this.app.address.get(name) !== undefined &&
			h("button", { type: "button", click: () =>
				this.app.go({ [name]: null }) },
			  "Remove this filter");
	}

	/* Show why there is nothing to draw. */
	empty(...why: Child[]): void {
		this.body.replaceChildren(h("div", { class: "state" },
					    h("p", {}, ...why)));
	}

	/* Cancel the call and show nothing. */
	clear(): void {
		this.close();
		this.forget();
		this.note.hidden = true;
		this.body.replaceChildren();
		this.busy(false);
	}

	/* Make the next call even if it is the same. */
	forget(): void {
		this.wanted = undefined;
	}

	close(): void {
		drop(this.slot);
	}
}

/* Why nothing is shown, and how to change that. */
export function emptyMessage(app: App, what: string): Child[] {
	const on = app.address.filters();

	if (on.length === 0)
		return [what];
	const none: Changes = {};
	for (const [name] of on)
		none[name] = null;
	return [`${what} that the filters select. `,
		h("button", { type: "button", click: () => app.go(none) },
		  "Remove all filters")];
}

/* Mutually exclusive choices as buttons side by side. */
export function choice(title: string, all: readonly (readonly [string, string])[],
		       on: string, act: (value: string) => void):
		HTMLElement {
	return h("div", { class: "choice", role: "group", "aria-label": title },
		 ...all.map(([value, text]) => h("button", { type: "button",
			"aria-pressed": String(value === on), value,
			click: () => act(value) }, text)));
}

export function chooser(title: string, all: readonly (readonly [string, string])[],
			on: string, act: (value: string) => void):
		HTMLElement {
	const list = h("select", { "aria-label": title },
		...all.map(([value, text]) => h("option", { value,
			selected: value === on }, text)));

	list.addEventListener("change", () => act(list.value));
	return h("label", { class: "chooser" }, h("span", {}, title), list);
}

/* Redraws controls, keeping the focus. */
export function redraw(bar: HTMLElement, ...controls: Child[]): void {
	const wanted = "button, select, input, a";
	const at = Array.from(bar.querySelectorAll<HTMLElement>(wanted))
		.indexOf(document.activeElement as HTMLElement);

	bar.replaceChildren(...controls.filter((one): one is Node =>
		one instanceof Node));
	if (at >= 0)
		bar.querySelectorAll<HTMLElement>(wanted)[at]?.focus();
}
