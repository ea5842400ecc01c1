/*
 * What a view is, and the parts it is made of. A part asks the server for what
 * it shows, says that it loads, that there is nothing, or what went wrong, and
 * draws. What is asked already is not asked again; an answer that a newer call
 * made stale is never drawn.
 */
import { Address, Changes, Pair } from "./address";
import { Summary, Trace } from "./answers";
import { Answer, Call, Gone, Progress, Stale, Wrong, ask, drop, sameCall, watch }
	from "./ask";
import { Child, h, tell } from "./dom";
import { Filter, filter } from "./options";
import type { Whole } from "./strip";

const PATIENCE_MS = 150;	/* before it says that it loads */

/* All that views know of the page around them. */
export interface App {
	readonly address: Address;
	readonly traces: Trace[];
	trace(): Trace;
	summary(): Summary | undefined;
	/* A call about the chosen trace, with the filters that are on. */
	call(what: string, params?: Pair[], body?: string): Call;
	/* The same without filters. */
	plain(what: string, params?: Pair[], body?: string): Call;
	go(changes: Changes, view?: string): void;
	/* What is known of the whole recording's time, once it is. */
	whole(then: (whole: Whole) => void): void;
}

export interface Shown {
	/* The address changed, or the trace has grown. */
	update(): void;
	close?(): void;
	/* Of gnomon, what says the same; if it is not the view's. */
	command?(): string;
	/* A statement that says the same, as far as one can. */
	sql?(): string;
	/* "/" was typed: where to search, if there is a place. */
	search?(): void;
}

export interface View {
	name: string;		/* in the address */
	title: string;
	key: string;		/* behind g */
	hint: string;		/* for who comes first */
	command?(app: App): string;	/* of gnomon that says the same */
	sql?(app: App): string;		/* a statement that does */
	open(element: HTMLElement, app: App): Shown;
}

/* What the words stand for that the commands' messages have. */
const GIVE: Record<string, string> = {
	REGEX: "a regular expression, as parse_.*",
	MOMENT: "a moment: 250ms after the start, 30% of the run, start, or " +
		"@NAME of a marker or snapshot",
	SIZE: "a size, as 4k or 1M", DURATION: "a duration, as 10ms",
	N: "a number", ADDRESS: "an address, as 0x7f00" };

const OF_OPTION = /^(?:gnomon: )?--([\w-]+)[ :]/;

function wrongFilter(message: string): Filter | undefined {
	return filter(OF_OPTION.exec(message)?.[1] ?? "");
}

/* A message about an option, as it is called in the page. */
function wrong(message: string): string {
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

	/* `quiet`: what else was said of its call says another part. */
	constructor(private readonly app: App, private readonly slot: string,
		    kind = "", private readonly quiet = false) {
		this.body = h("div", { class: "part-body" });
		this.element = h("section", { class: `part ${kind}` },
				 this.note, this.body);
		watch(slot, (how) => this.tellProgress(how));
	}

	/* Asks, unless that is asked already, and draws what comes. */
	show(call: Call, draw: (value: unknown) => void,
	     refused?: (error: Error) => void): void {
		const now = this.app.traces.filter(({ id }) =>
			call.path.includes(`/${id}/`) ||
			call.params.some(([, value]) => value === id))
			.map(({ generation }) => generation).join(" ");

		if (sameCall(this.wanted, call) && now === this.generation)
			return;
		/* What was said of another call. */
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

	/* That an index is made is progress, and over by now. */
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
		/* Asked again when the server is back. */
		if (gone)
			this.forget();
		tell(error.message);
		this.body.replaceChildren(h("div", { class: "state failed",
						     role: "alert" },
			h("p", {}, gone ? "The server does not answer. Is " +
			  "`gnomon serve` still running?" :
			  wrong(error.message)),
			error instanceof Wrong ? this.wayOut(error) :
			h("button", { type: "button", click: again },
			  "Try again")));
	}

	/* What is asked wrongly is refused again; a filter can be taken off. */
	private wayOut({ message }: Wrong): HTMLElement | false {
		const name = wrongFilter(message)?.name;

		return name !== undefined &&
			this.app.address.get(name) !== undefined &&
			h("button", { type: "button", click: () =>
				this.app.go({ [name]: null }) },
			  "Remove this filter");
	}

	/* There is nothing to draw, and why. */
	empty(...why: Child[]): void {
		this.body.replaceChildren(h("div", { class: "state" },
					    h("p", {}, ...why)));
	}

	/* Nothing is asked, said or shown. */
	clear(): void {
		this.close();
		this.forget();
		this.note.hidden = true;
		this.body.replaceChildren();
		this.busy(false);
	}

	/* The next call is asked in any case. */
	forget(): void {
		this.wanted = undefined;
	}

	close(): void {
		drop(this.slot);
	}
}

/* Why nothing is shown, and the way out. */
export function nothing(app: App, what: string): Child[] {
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

/* Choices of which one is on, as buttons side by side. */
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

/* Draws controls anew; what has the focus, has it afterwards. */
export function redraw(bar: HTMLElement, ...controls: Child[]): void {
	const wanted = "button, select, input, a";
	const at = Array.from(bar.querySelectorAll<HTMLElement>(wanted))
		.indexOf(document.activeElement as HTMLElement);

	bar.replaceChildren(...controls.filter((one): one is Node =>
		one instanceof Node));
	if (at >= 0)
		bar.querySelectorAll<HTMLElement>(wanted)[at]?.focus();
}
