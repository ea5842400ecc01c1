/*
 * Creates elements. Content is always text: names in a trace may contain
 * markup, which must not be interpreted.
 */

export type Child = Node | string | number | false | null | undefined;
type Value = string | number | boolean | undefined | ((event: never) => void);
type Props = Record<string, Value>;

const SVG = "http://www.w3.org/2000/svg";

function fill(made: Element, props: Props, children: Child[]): void {
	for (const [name, value] of Object.entries(props))
		if (typeof value === "function")
			made.addEventListener(name, value as EventListener);
		else if (value === true)
			made.setAttribute(name, "");
		else if (value !== undefined && value !== false)
			made.setAttribute(name, String(value));
	for (const child of children)
		if (child instanceof Node)
			made.append(child);
		else if (child !== false && child !== null &&
			 child !== undefined)
			made.append(String(child));
}

/* Create an element. A property that is a function listens to the event of that
 * name. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K,
		props: Props = {}, ...children: Child[]):
		HTMLElementTagNameMap[K] {
	const made = document.createElement(tag);

	fill(made, props, children);
	return made;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K,
		props: Props = {}, ...children: Child[]):
		SVGElementTagNameMap[K] {
	const made = document.createElementNS(SVG, tag);

	fill(made, props, children);
	return made as SVGElementTagNameMap[K];
}

export function find<T extends HTMLElement>(id: string): T {
	const found = document.getElementById(id);

	if (!found)
		throw new Error(`no element ${id}`);
	return found as T;
}

/* Announce a text to screen readers only. */
export function tell(text: string): void {
	find("told").textContent = text;
}

/* Download a file made by the page. */
export function download(name: string, type: string, text: string): void {
	const url = URL.createObjectURL(new Blob([text], { type }));
	const link = h("a", { href: url, download: name });

	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* Debounce: call `act` after a pause in typing. */
export function debounce(ms: number, act: () => void): () => void {
	let timer = 0;

	return () => {
		clearTimeout(timer);
		timer = window.setTimeout(act, ms);
	};
}

export function isTyping(event: Event): boolean {
	const { target } = event;

	return target instanceof HTMLInputElement ||
		target instanceof HTMLTextAreaElement ||
		target instanceof HTMLSelectElement;
}
