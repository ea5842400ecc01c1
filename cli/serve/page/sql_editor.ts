/*
 * The editor of the SQL console: a text field over a coloured copy of its text.
 * Names are completed: Tab or Enter accepts, Ctrl and the space bar list all.
 */
import { h } from "./dom";
import { Named, TableOf, completions, isWord } from "./sql_words";

const TOKENS = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'?|\b\d[\w.]*|\w+|[^\w\s]+|\s+/g;
const OFFERED = 9;

function kind(token: string, names: Set<string>): string {
	if (/^(--|\/\*)/.test(token))
		return "s-comment";
	if (token[0] === "'")
		return "s-text";
	if (/^\d/.test(token))
		return "s-number";
	return isWord(token) ? "s-word" : names.has(token) ? "s-name" : "";
}

export class Editor {
	readonly element: HTMLElement;
	private readonly field: HTMLTextAreaElement;
	private readonly colours = h("pre", { "aria-hidden": "true" });
	private readonly list = h("ul", { class: "completions", role: "listbox",
					  id: "completions", hidden: true });
	private tables: TableOf[] = [];
	private names = new Set<string>();
	private offered: Named[] = [];
	private at = 0;
	private wrong: [number, number] | null = null;

	constructor(private readonly run: () => void) {
		this.field = h("textarea", { spellcheck: "false", rows: 6,
			autocapitalize: "off", autocomplete: "off",
			"aria-label": "SQL", "aria-controls": "completions",
			placeholder: "select function, sum(live_bytes) as live " +
				"from sums group by 1 order by 2 desc limit 20" });
		this.element = h("div", { class: "editor" }, this.colours,
				 this.field, this.list);
		this.field.addEventListener("input", () => {
			this.wrong = null;
			this.colour();
			this.offer(false);
		});
		this.field.addEventListener("keydown", (event) =>
			this.key(event));
		this.field.addEventListener("scroll", () => this.align());
		this.field.addEventListener("blur", () => this.close());
	}

	know(tables: TableOf[]): void {
		this.tables = tables;
		this.names = new Set(tables.flatMap(({ name, columns }) =>
			[name, ...columns.map((one) => one.name)]));
		this.colour();
	}

	get text(): string {
		return this.field.value;
	}

	set text(text: string) {
		this.field.value = text;
		this.wrong = null;
		this.colour();
	}

	/* Insert at the cursor, replacing the selection. */
	insert(text: string): void {
		const { field } = this;

		field.setRangeText(text, field.selectionStart,
				   field.selectionEnd, "end");
		field.focus();
		this.colour();
	}

	focus(): void {
		this.field.focus();
	}

	mark(place: [number, number] | null): void {
		this.wrong = place;
		this.colour();
		if (place) {
			this.field.focus();
			this.field.setSelectionRange(...place);
		}
	}

	private align(): void {
		this.colours.scrollTop = this.field.scrollTop;
		this.colours.scrollLeft = this.field.scrollLeft;
	}

	private colour(): void {
		const text = this.field.value;
		let at = 0;

		this.colours.replaceChildren(...(text.match(TOKENS) ?? [])
			.map((token) => {
				const from = at;

				at += token.length;
				const bad = this.wrong && from < this.wrong[1] &&
					at > this.wrong[0] && token.trim();
				return h("span", { class: `${kind(token,
					this.names)}${bad ? " s-wrong" : ""}` },
					token);
			}), "\n");
		this.field.rows = Math.max(4, Math.min(16,
			text.split("\n").length + 1));
		this.align();
	}

	/* ---- completion ---- */

	private begun(): string {
		const { field } = this;

		return /\w*$/.exec(field.value.slice(0, field.selectionStart))
			?.[0] ?? "";
	}

	private offer(all: boolean): void {
		const begun = this.begun();

		this.offered = begun.length > 1 || all ? completions(this.tables,
			this.field.value, begun).slice(0, OFFERED) : [];
		this.at = 0;
		this.drawOffered();
	}

	private drawOffered(): void {
		this.list.hidden = this.offered.length === 0;
		this.list.replaceChildren(...this.offered.map((one, i) => {
			const line = h("li", { role: "option",
				"aria-selected": String(i === this.at) },
				h("code", {}, one.name),
				h("small", {}, one.kind === "column" ?
				  one.table : one.kind),
				h("span", {}, one.help));

			line.addEventListener("pointerdown", (event) => {
				event.preventDefault();
				this.take(one);
			});
			return line;
		}));
		const before = this.field.value.slice(0,
			this.field.selectionStart).split("\n");
		const column = before[before.length - 1].length -
			this.begun().length;
		this.list.style.left = `calc(10px + ${Math.min(column, 60)}ch)`;
		this.list.style.top = `${before.length * 19 + 10 -
			this.field.scrollTop}px`;
	}

	private close(): void {
		this.offered = [];
		this.list.hidden = true;
	}

	private take(one: Named): void {
		const { field } = this;
		const end = field.selectionStart;

		field.setRangeText(one.name, end - this.begun().length, end,
				   "end");
		this.close();
		this.colour();
	}

	private key(event: KeyboardEvent): void {
		const step = event.key === "ArrowDown" ? 1 :
			event.key === "ArrowUp" ? -1 : 0;
		const some = this.offered.length > 0;

		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			this.close();
			this.run();
		} else if (event.key === " " && event.ctrlKey) {
			this.offer(true);
		} else if (some && step) {
			this.at = (this.at + step + this.offered.length) %
				this.offered.length;
			this.drawOffered();
		} else if (some && (event.key === "Tab" ||
				    event.key === "Enter")) {
			this.take(this.offered[this.at]);
		} else if (some && event.key === "Escape") {
			this.close();
			event.stopPropagation();
		} else {
			return;
		}
		event.preventDefault();
	}
}
