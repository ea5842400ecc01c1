/*
 * Menus: context menus (right mouse button, menu key or Shift F10), and menus
 * of buttons. Arrow keys and first letters select, Escape closes.
 */
import { h } from "./dom";

export interface Item {
	text: string;
	hint?: string;
	link?: string;
	act?: () => void;
}

export type Items = (Item | "line" | false | null | undefined)[];

let open: { element: HTMLElement; back: Element | null } | undefined;

export function closeMenu(): void {
	const was = open;

	open = undefined;
	if (!was)
		return;
	was.element.remove();
	if (was.back instanceof HTMLElement || was.back instanceof SVGElement)
		was.back.focus();
}

function entry(item: Item): HTMLElement {
	const inner = [h("span", {}, item.text),
		       item.hint ? h("small", {}, item.hint) : null];

	if (item.link !== undefined)
		return h("a", { role: "menuitem", tabindex: -1,
				href: item.link, click: () => closeMenu() },
			 ...inner);
	return h("button", { type: "button", role: "menuitem", tabindex: -1,
		click: () => {
			closeMenu();
			item.act?.();
		} }, ...inner);
}

function onKey(event: KeyboardEvent, element: HTMLElement): void {
	const all = Array.from(element.querySelectorAll<HTMLElement>(
		"[role=menuitem]"));
	const at = all.indexOf(document.activeElement as HTMLElement);
	let to = -1;

	if (event.key === "Escape" || event.key === "Tab")
		closeMenu();
	else if (event.key === "ArrowDown")
		to = (at + 1) % all.length;
	else if (event.key === "ArrowUp")
		to = (at + all.length - 1) % all.length;
	else if (event.key === "Home")
		to = 0;
	else if (event.key === "End")
		to = all.length - 1;
	else if (event.key.length === 1)
		to = all.findIndex((one, i) => i > at && one.textContent
			?.toLowerCase().startsWith(event.key.toLowerCase()));
	else
		return;
	event.stopPropagation();
	if (event.key === "Enter" || event.key === " ")
		return;
	event.preventDefault();
	all[to]?.focus();
}

function place(element: HTMLElement, x: number, y: number): void {
	const { width, height } = element.getBoundingClientRect();

	element.style.left = `${Math.max(4, Math.min(x,
		innerWidth - width - 4))}px`;
	element.style.top = `${Math.max(4, Math.min(y,
		innerHeight - height - 4))}px`;
}

export function showMenu(x: number, y: number, title: string,
			 items: Items): void {
	const there = items.filter(Boolean) as (Item | "line")[];
	const back = open ? open.back : document.activeElement;

	open?.element.remove();
	open = undefined;
	if (there.length === 0)
		return;
	const element = h("div", { class: "menu", role: "menu",
				   "aria-label": title },
		title && h("p", { class: "menu-title",
				  role: "presentation" }, title),
		...there.map((one) => one === "line" ?
			h("hr", { role: "separator" }) : entry(one)));
	element.addEventListener("keydown", (event) => onKey(event, element));
	document.body.append(element);
	open = { element, back };
	place(element, x, y);
	element.querySelector<HTMLElement>("[role=menuitem]")
		?.focus({ preventScroll: true });
}

/* Open a menu below a button. */
export function menuOf(button: HTMLElement, title: string,
		       items: () => Items): void {
	button.setAttribute("aria-haspopup", "menu");
	button.addEventListener("click", () => {
		const box = button.getBoundingClientRect();

		showMenu(box.left, box.bottom + 4, title, items());
	});
}

/* The position of a context menu: the mouse, or the focused element. */
export function placeOf(event: MouseEvent, element: Element):
		[number, number] {
	const box = element.getBoundingClientRect();

	event.preventDefault();
	return event.clientX || event.clientY ?
		[event.clientX, event.clientY] :
		[box.left + 16, box.top + Math.min(box.height, 24)];
}

addEventListener("pointerdown", (event) => {
	if (open && !open.element.contains(event.target as Node))
		closeMenu();
});
addEventListener("blur", () => closeMenu());
