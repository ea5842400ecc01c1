/*
 * The script of an SVG flame graph: fits it to the window, zooms on a click,
 * and searches. Boxes and their numbers are in the SVG
 * (cli/flamegraph/flame_svg.c); without the script it is a static picture.
 */
import * as names from "./names";
import * as quantity from "./quantity";

const MARGIN = 10, ROW = 17, TOP = 88;	/* the same as in flame_svg.c */
const SMALLEST = 0.2;			/* points; narrower boxes are hidden */
const SVG = "http://www.w3.org/2000/svg";
const XHTML = "http://www.w3.org/1999/xhtml";

interface Box {
	start: number;
	value: number;
	depth: number;
	name: string;
	about: string[];	/* further lines of the tooltip */
	group: SVGGElement;
	rect: SVGRectElement;
	text: SVGTextElement;
}

const root = document.documentElement as unknown as SVGSVGElement;
const deepest = Number(root.dataset.deepest);
const boxes = Array.from(document.querySelectorAll<SVGGElement>(".f"), read);
let icicle = root.dataset.layout === "icicle";
let zoomed = boxes[0];
let letter = 6.62;

function read(group: SVGGElement): Box {
	const lines = (group.querySelector("title")?.textContent ?? "")
		.split("\n");
	return {
		start: Number(group.dataset.s),
		value: Number(group.dataset.v),
		depth: Number(group.dataset.d),
		name: lines[0],
		about: lines.slice(1),
		group,
		rect: group.querySelector("rect") as SVGRectElement,
		text: group.querySelector("text") as SVGTextElement,
	};
}

/* ---- boxes ---- */

function isAround(outer: Box, inner: Box): boolean {
	return outer.depth <= inner.depth && outer.start <= inner.start &&
		outer.start + outer.value >= inner.start + inner.value;
}

function show(box: Box, x: number, width: number): void {
	const y = TOP + ROW * (icicle ? box.depth : deepest - box.depth);

	box.group.style.display = "";
	box.rect.setAttribute("x", x.toFixed(2));
	box.rect.setAttribute("y", String(y));
	box.rect.setAttribute("width",
		(width > 3 ? width - .7 : width).toFixed(2));
	box.text.setAttribute("x", (x + 3).toFixed(2));
	box.text.setAttribute("y", String(y + 12));
	box.text.textContent = names.fitName(box.name,
		Math.floor((width - 6) / letter));
}

function draw(): void {
	const width = root.clientWidth - 2 * MARGIN;

	for (const box of boxes) {
		const above = box !== zoomed && isAround(box, zoomed);
		const points = box.value / zoomed.value * width;

		box.group.classList.toggle("above", above);
		if (above || box === zoomed)
			show(box, MARGIN, width);
		else if (isAround(zoomed, box) && points >= SMALLEST)
			show(box, MARGIN + (box.start - zoomed.start) /
				zoomed.value * width, points);
		else
			box.group.style.display = "none";
	}
	unzoom.style.display = zoomed === boxes[0] ? "none" : "";
	place(width + 2 * MARGIN);
}

function zoom(box: Box): void {
	zoomed = box;
	draw();
}

/* ---- controls ---- */

function label(words: string, act: () => void): SVGTextElement {
	const text = document.createElementNS(SVG, "text");

	text.setAttribute("class", "button");
	text.setAttribute("y", "21");
	text.setAttribute("text-anchor", "end");
	text.setAttribute("role", "button");
	text.setAttribute("tabindex", "0");
	text.textContent = words;
	text.addEventListener("click", act);
	text.addEventListener("keydown", (event) => {
		if (event.key === "Enter" || event.key === " ")
			act();
	});
	root.append(text);
	return text;
}

function field(): [SVGForeignObjectElement, HTMLInputElement] {
	const foreign = document.createElementNS(SVG, "foreignObject");
	const input = document.createElementNS(XHTML, "input") as
		HTMLInputElement;

	input.type = "search";
	input.placeholder = "search: regular expression";
	input.setAttribute("aria-label", "search");
	input.addEventListener("input", search);
	foreign.setAttribute("y", "6");
	foreign.setAttribute("height", "24");
	foreign.append(input);
	root.append(foreign);
	return [foreign, input];
}

const [foreign, input] = field();
const flip = label("flip", () => {
	icicle = !icicle;
	draw();
});
const unzoom = label("reset zoom", () => zoom(boxes[0]));
const said = document.createElementNS(SVG, "text");

/* Place the controls at the right edge; `width` of the picture. */
function place(width: number): void {
	const wide = Math.min(230, width / 3);

	foreign.setAttribute("x", String(width - MARGIN - wide));
	foreign.setAttribute("width", String(wide));
	flip.setAttribute("x", String(width - MARGIN - wide - 12));
	unzoom.setAttribute("x", String(width - MARGIN - wide - 54));
}

function say(words: string): void {
	said.textContent = names.fitName(words,
		Math.floor((root.clientWidth - 2 * MARGIN) / letter));
}

/* Sums all stacks with a function that matched. Boxes are in preorder, so boxes
 * inside a hit follow it. */
let result = "";

function search(): void {
	const wanted = names.pattern(input.value.trim());
	let sum = 0, hits = 0, inside = Infinity;

	input.setAttribute("aria-invalid", String(wanted === undefined));
	for (const box of boxes) {
		const hit = !!wanted && wanted.test(box.name);

		box.group.classList.toggle("found", hit);
		if (box.depth <= inside)
			inside = Infinity;
		if (hit && inside === Infinity) {
			sum += box.value;
			inside = box.depth;
		}
		hits += Number(hit);
	}
	result = wanted === undefined ? "not a regular expression" :
		wanted === null ? "" : `${quantity.count(hits)} found: ` +
		`${value(sum)}, ${quantity.percent(sum, boxes[0].value)}`;
	say(result);
}

function value(n: number): string {
	return root.dataset.unit === "bytes" ?
		`${quantity.size(n)} (${quantity.count(n)} bytes)` :
		`${quantity.count(n)} allocations`;
}

function boxOf(event: Event): Box | undefined {
	const group = (event.target as Element).closest?.(".f");

	return group ? boxes.find((box) => box.group === group) : undefined;
}

function onKey(event: KeyboardEvent): void {
	if (event.key === "Escape") {
		input.value = "";
		input.blur();
		search();
		zoom(boxes[0]);
	} else if (event.target === input || event.ctrlKey || event.metaKey) {
		return;
	} else if (event.key === "/") {
		input.focus();
		event.preventDefault();
	} else if (event.key === "i") {
		icicle = !icicle;
		draw();
	}
}

function start(): void {
	said.setAttribute("class", "said");
	said.setAttribute("x", String(MARGIN));
	said.setAttribute("y", "55");
	said.setAttribute("role", "status");
	root.append(said);
	root.removeAttribute("viewBox");
	root.setAttribute("width", "100%");
	said.textContent = "m".repeat(100);
	letter = said.getComputedTextLength() / 100 || letter;
	said.textContent = "";
	root.addEventListener("click", (event) => {
		const box = boxOf(event);
		if (box && box.value > 0)
			zoom(box);
	});
	root.addEventListener("mouseover", (event) => {
		const box = boxOf(event);
		say(box ? [box.about[box.about.length - 1], box.name,
			...box.about.slice(0, -1)].join("  ") : result);
	});
	document.addEventListener("keydown", onKey);
	window.addEventListener("resize", draw);
	draw();
}

start();
