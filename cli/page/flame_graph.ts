/*
 * The graph: boxes on a canvas of the size of the visible part, in an element
 * that scrolls. Only visible boxes of sufficient width are drawn, so the size
 * of the tree does not matter.
 */
import { briefly, signed } from "./flame_data";
import { State } from "./flame_state";
import { fitName } from "./names";
import * as quantity from "./quantity";

const ROW = 20;			/* points */
const GAP = 1;
const SMALLEST = 0.4;
const SHADES = [1, 0.87, 0.74];
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, ' +
	"monospace";

interface Box {
	node: number;
	x: number;
	y: number;
	width: number;
}

export class Graph {
	private readonly canvas: HTMLCanvasElement;
	private readonly room: HTMLElement;
	private readonly paint: CanvasRenderingContext2D;
	private readonly colours = new Map<string, string>();
	private boxes: Box[] = [];	/* visible */
	private dust: Box[] = [];	/* too small boxes, merged by caller */
	private hovered = -1;
	private letter = 7;
	private asked = 0;

	constructor(private readonly state: State,
		    private readonly element: HTMLElement,
		    private readonly tip: HTMLElement) {
		this.canvas = element.querySelector("canvas") as
			HTMLCanvasElement;
		this.room = element.querySelector(".room") as HTMLElement;
		this.paint = this.canvas.getContext("2d") as
			CanvasRenderingContext2D;
		this.paint.font = FONT;
		this.letter = this.paint.measureText("m".repeat(100)).width /
			100;
		this.listen();
	}

	private listen(): void {
		const dark = matchMedia("(prefers-color-scheme: dark)");

		this.state.listen(() => this.later());
		this.element.addEventListener("scroll", () => this.later());
		new ResizeObserver(() => this.later()).observe(this.element);
		dark.addEventListener("change", () => {
			this.colours.clear();
			this.later();
		});
		this.canvas.addEventListener("click", (event) => {
			const node = this.at(event);
			if (node >= 0)
				this.state.change({ zoomed: node,
						    selected: node });
		});
		this.canvas.addEventListener("mousemove", (event) =>
			this.hover(event));
		this.canvas.addEventListener("mouseleave", () => {
			this.tip.hidden = true;
			this.hovered = -1;
			this.later();
		});
	}

	/* Redraw once per screen frame. */
	later(): void {
		cancelAnimationFrame(this.asked);
		this.asked = requestAnimationFrame(() => this.draw());
	}

	/* ---- positions of boxes ---- */

	/* Calls `each` for every box that is wide enough, and `rest` for the
	 * others; returns the largest depth. */
	private walk(each: (node: number, x: number, width: number) => void,
		     rest: (node: number, x: number, width: number) => void):
			number {
		const { tree, zoomed, width: column } = this.state;
		const { start } = tree.order(column);
		const whole = tree.value(column, zoomed);
		const wide = this.element.clientWidth;
		let deepest = tree.depth(zoomed);

		for (let n = zoomed; n !== 0;) {
			n = tree.parent[n];
			each(n, 0, wide);
		}
		each(zoomed, 0, wide);
		if (whole === 0)
			return deepest;
		for (let n = zoomed + 1; n < tree.end[zoomed];) {
			const width = tree.value(column, n) / whole * wide;
			const x = (start[n] - start[zoomed]) / whole * wide;

			if (width < SMALLEST) {
				rest(n, x, width);
				n = tree.end[n];
				continue;
			}
			deepest = Math.max(deepest, tree.depth(n));
			each(n, x, width);
			n++;
		}
		return deepest;
	}

	private arrange(): void {
		const { state, element } = this;
		const deepest = this.walk(() => undefined, () => undefined);
		const height = Math.max((deepest + 1) * ROW,
					element.clientHeight);
		const top = element.scrollTop;
		const rests = new Map<number, Box>();
		const y = (node: number) => {
			const row = state.tree.depth(node) * ROW;

			return (state.icicle ? row : height - ROW - row) - top;
		};
		const inSight = (box: Box) => box.y > -ROW &&
			box.y < element.clientHeight;

		this.room.style.height = `${height}px`;
		this.boxes = [];
		this.walk((node, x, width) => {
			this.boxes.push({ node, x, y: y(node), width });
		}, (node, x, width) => {
			const caller = state.tree.parent[node];
			const rest = rests.get(caller);
			const end = Math.max(x + width, rest ?
				rest.x + rest.width : 0);
			const from = Math.min(x, rest ? rest.x : x);

			if (width > 0)
				rests.set(caller, { node, x: from, y: y(node),
						    width: end - from });
		});
		this.boxes = this.boxes.filter(inSight);
		this.dust = Array.from(rests.values()).filter(inSight);
	}

	/* Size the canvas like the element, in device pixels. */
	private fit(): void {
		const { clientWidth, clientHeight } = this.element;
		const scale = devicePixelRatio || 1;

		this.canvas.style.width = `${clientWidth}px`;
		this.canvas.style.height = `${clientHeight}px`;
		this.canvas.width = Math.round(clientWidth * scale);
		this.canvas.height = Math.round(clientHeight * scale);
		this.paint.setTransform(scale, 0, 0, scale, 0, 0);
		this.paint.font = FONT;
		this.paint.textBaseline = "middle";
	}

	private at(event: MouseEvent): number {
		const { offsetX: x, offsetY: y } = event;
		const box = this.boxes.find((one) => x >= one.x &&
			x < one.x + one.width && y >= one.y &&
			y < one.y + ROW);

		return box ? box.node : -1;
	}

	/* The node for a context menu: under the mouse, or selected. */
	nodeOf(event: MouseEvent): number {
		return event.target === this.canvas ? this.at(event) :
			this.state.selected;
	}

	/* ---- drawing ---- */

	/* The fill colour that the style sheet gives this class. */
	private colour(name: string): string {
		let colour = this.colours.get(name);

		if (colour === undefined) {
			const sample = document.createElementNS(
				"http://www.w3.org/2000/svg", "rect");

			sample.setAttribute("class", name);
			document.body.append(sample);
			colour = getComputedStyle(sample).fill;
			sample.remove();
			this.colours.set(name, colour);
		}
		return colour;
	}

	private drawBox(box: Box): void {
		const { paint, state } = this;
		const { node, x, y } = box;
		const width = box.width > 3 ? box.width - GAP : box.width;
		const above = node !== state.zoomed &&
			state.tree.isAround(node, state.zoomed);

		paint.globalAlpha = (above ? 0.55 : 1) *
			SHADES[state.tree.compares ? 0 : state.tree.shade(node)];
		paint.fillStyle = this.colour(state.hits.has(node) ? "found" :
			state.tree.compares ? state.tree.change(state.cost, node) :
			state.tree.colour(node));
		paint.fillRect(x, y, width, ROW - GAP);
		paint.globalAlpha = above ? 0.7 : 1;
		if (width > 24) {
			paint.fillStyle = this.colour("name");
			paint.fillText(this.words(node, width), x + 4,
				       y + ROW / 2);
		}
		if (node === state.selected || node === this.hovered) {
			paint.globalAlpha = 1;
			paint.strokeStyle = this.colour("name");
			paint.lineWidth = node === state.selected ? 2 : 1;
			paint.strokeRect(x + 1, y + 1, width - 2,
					 ROW - GAP - 2);
		}
	}

	/* The name, and its value if there is room. */
	private words(node: number, width: number): string {
		const { tree, cost } = this.state;
		const room = Math.floor((width - 8) / this.letter);
		const name = tree.name(node);
		const value = tree.value(cost, node);
		const more = tree.compares ?
			`  ${signed(cost, tree.difference(cost, node))}` :
			`  ${briefly(cost, value)} ` +
			quantity.percent(value, tree.value(cost, 0));

		return name.length + more.length <= room ? name + more :
			fitName(name, room);
	}

	private draw(): void {
		const { paint, state } = this;

		this.arrange();
		this.fit();
		for (const box of this.boxes)
			this.drawBox(box);
		paint.globalAlpha = 1;
		paint.fillStyle = this.colour("rest");
		for (const { x, y, width } of this.dust)
			paint.fillRect(x, y, width, ROW - GAP);
		if (state.tree.value(state.width, 0) === 0) {
			paint.fillStyle = this.colour("said");
			paint.fillText(state.tree.value(state.cost, 0) > 0 ?
				       "no changes" :
				       "no values of this cost", 4,
				       state.icicle ? 1.5 * ROW + 4 :
				       this.element.clientHeight - 1.5 * ROW);
		}
	}

	/* ---- mouse and keys ---- */

	private figure(node: number): string {
		const { tree, cost } = this.state;
		const value = tree.value(cost, node);

		return tree.compares ? briefly(cost, tree.value(
			`before_${cost}`, node)) + ` → ${briefly(cost, value)}, ` +
			signed(cost, tree.difference(cost, node)) :
			`${briefly(cost, value)}, ` +
			quantity.percent(value, tree.value(cost, 0));
	}

	private hover(event: MouseEvent): void {
		const { tree, cost } = this.state;
		const node = this.at(event);

		this.tip.hidden = node < 0;
		this.canvas.style.cursor = node < 0 ? "" : "pointer";
		if (node !== this.hovered)
			this.later();
		this.hovered = node;
		if (node < 0)
			return;
		this.tip.textContent = [tree.name(node), tree.place(node),
			tree.library(node), `${cost}: ${this.figure(node)}`]
			.filter((line) => line !== "").join("\n");
		const right = event.clientX > innerWidth / 2;
		this.tip.style.left = right ? "" : `${event.clientX + 14}px`;
		this.tip.style.right = right ?
			`${innerWidth - event.clientX + 14}px` : "";
		const low = event.clientY > innerHeight * 0.7;
		this.tip.style.top = low ? "" : `${event.clientY + 16}px`;
		this.tip.style.bottom = low ?
			`${innerHeight - event.clientY + 10}px` : "";
	}

	/* Keys that move from box to box. */
	key(event: KeyboardEvent): void {
		const { state } = this;
		const inward = state.icicle ? "ArrowDown" : "ArrowUp";
		const outward = state.icicle ? "ArrowUp" : "ArrowDown";
		let to: number | undefined;

		if (event.key === inward)
			to = this.sibling(state.selected, 0, true);
		else if (event.key === outward)
			to = state.tree.parent[state.selected];
		else if (event.key === "ArrowRight")
			to = this.sibling(state.selected, 1, false);
		else if (event.key === "ArrowLeft")
			to = this.sibling(state.selected, -1, false);
		else if (event.key === "Home")
			to = 0;
		else if (event.key === "Enter")
			state.change({ zoomed: state.selected });
		else
			return;
		event.preventDefault();
		if (to !== undefined)
			this.go(to);
	}

	/* The first child, or a sibling; undefined: none. */
	private sibling(node: number, step: number, child: boolean):
			number | undefined {
		const { tree, width } = this.state;
		const { first, list } = tree.order(width);
		const around = child ? node : tree.parent[node];
		const all = Array.from(list.subarray(first[around],
						     first[around + 1]))
			.filter((n) => tree.value(width, n) > 0);

		return all[child ? 0 : all.indexOf(node) + step];
	}

	/* Select a node and scroll to it. */
	go(node: number): void {
		const { state, element } = this;
		const outside = !state.tree.isAround(state.zoomed, node) &&
			!state.tree.isAround(node, state.zoomed);

		state.change(outside ? { selected: node,
			zoomed: state.tree.parent[node] } :
			{ selected: node });
		this.arrange();
		const row = state.tree.depth(node) * ROW;
		const y = state.icicle ? row :
			element.scrollHeight - ROW - row;
		if (y < element.scrollTop ||
		    y + ROW > element.scrollTop + element.clientHeight)
			element.scrollTop = y - element.clientHeight / 2;
	}

	/* Scroll to the root. */
	scrollToRoot(): void {
		this.arrange();
		this.element.scrollTop = this.state.icicle ? 0 :
			this.element.scrollHeight;
	}
}
