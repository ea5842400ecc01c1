/*
 * The page of a graph: controls above the plot, and a legend with the values of
 * the step that the mouse or keys point to.
 */
import { COSTS, Cost, MEANINGS, Series, briefly, colour, max, read, valueAt } from
	"./graph_data";
import { Plot, Shown } from "./graph_plot";
import * as quantity from "./quantity";

const data = read();
const shown: Shown = {
	series: data.series, hidden: new Set(), cost: data.cost,
	stacked: data.stacked, at: -1, steps: data.steps, end_ns: data.end_ns,
};
const element = document.getElementById("plot") as HTMLElement;
const plot = new Plot(element, shown);
const rows: { row: HTMLElement; value: HTMLElement; series: Series }[] = [];
let highest: HTMLElement;
/* The chosen layout, used if the cost allows it. */
let wanted = data.stacked || data.cost === "peak" && data.adds_up;

/* Peaks do not add up, nor do rows that share blocks. */
function canStack(): boolean {
	return data.adds_up && shown.cost !== "peak";
}

function begin(step: number): number {
	return data.end_ns * step / data.steps;
}

/* ---- values ---- */

function say(): void {
	const { at, cost } = shown;
	const moment = document.getElementById("moment") as HTMLElement;
	const about = document.getElementById("about") as HTMLElement;

	about.textContent = `${MEANINGS[cost]}, ${data.about}`;
	highest.textContent = at < 0 ? "max" : "value";
	for (const { row, value, series } of rows) {
		value.textContent = briefly(cost, at < 0 ? max(series, cost) :
			valueAt(series, cost, at));
		row.classList.toggle("off", shown.hidden.has(
			data.series.indexOf(series)));
	}
	moment.textContent = at < 0 ?
		`${quantity.time(data.end_ns)} in ${data.steps} steps` :
		`${quantity.time(begin(at))} – ${quantity.time(begin(at + 1))}`;
}

function update(): void {
	if (!canStack())
		shown.stacked = false;
	for (const input of document.querySelectorAll("input")) {
		if (input.name === "cost")
			input.checked = input.value === shown.cost;
		if (input.name === "layout") {
			input.checked = (input.value === "stacked") ===
				shown.stacked;
			input.disabled = input.value === "stacked" &&
				!canStack();
		}
	}
	say();
	plot.draw();
}

/* ---- controls ---- */

function choice(id: string, name: string, words: readonly string[],
		act: (word: string) => void): void {
	const group = document.getElementById(id) as HTMLElement;

	for (const word of words) {
		const label = document.createElement("label");
		const input = document.createElement("input");

		input.type = "radio";
		input.name = name;
		input.value = word;
		input.addEventListener("change", () => {
			act(word);
			update();
		});
		label.append(input, word);
		group.append(label);
	}
}

function chooseCost(cost: Cost): void {
	shown.cost = cost;
	shown.stacked = wanted;
}

function toggle(number: number): void {
	if (!shown.hidden.delete(number))
		shown.hidden.add(number);
	update();
}

function entry(series: Series, number: number): HTMLElement {
	const row = document.createElement("tr");
	const name = document.createElement("td");
	const value = document.createElement("td");
	const label = document.createElement("label");
	const swatch = document.createElement("span");
	const input = document.createElement("input");
	const [kind, shade] = colour(series, number);

	rows.push({ row, value, series });
	row.append(name, value);
	if (series.kind === "all") {
		row.className = "all";
		name.textContent = series.name;
		return row;
	}
	swatch.className = `swatch ${kind} d${shade}`;
	input.type = "checkbox";
	input.checked = true;
	input.addEventListener("change", () => toggle(number));
	label.append(input, swatch, series.name);
	name.append(label);
	return row;
}

function legend(): void {
	const table = document.createElement("table");
	const head = document.createElement("tr");

	highest = document.createElement("th");
	head.append(document.createElement("th"), highest);
	table.append(head);
	if (data.all)
		table.append(entry(data.all, 0));
	data.series.forEach((one, i) => table.append(entry(one, i)));
	document.getElementById("legend")?.append(table);
}

/* ---- mouse and keys ---- */

function go(step: number): void {
	shown.at = Math.max(-1, Math.min(data.steps - 1, step));
	say();
	plot.draw();
}

function onKey(event: KeyboardEvent): void {
	const number = Number(event.key);

	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (number >= 1 && number <= COSTS.length)
		chooseCost(COSTS[number - 1]);
	else if (event.key === "i")
		shown.stacked = wanted = !shown.stacked;
	else
		return;
	update();
}

function start(): void {
	choice("costs", "cost", COSTS, (word) => chooseCost(word as Cost));
	choice("layouts", "layout", ["stacked", "lines"], (word) => {
		shown.stacked = wanted = word === "stacked";
	});
	legend();
	element.addEventListener("mousemove", (event) => go(plot.stepAt(
		event.clientX - (element.querySelector("canvas") as
			HTMLCanvasElement).getBoundingClientRect().x)));
	element.addEventListener("mouseleave", () => go(-1));
	element.addEventListener("keydown", (event) => {
		if (event.key === "ArrowRight")
			go(shown.at + 1);
		else if (event.key === "ArrowLeft")
			go(shown.at - 1);
	});
	document.addEventListener("keydown", onKey);
	new ResizeObserver(() => plot.draw()).observe(element);
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", () => plot.draw());
	update();
}

start();
