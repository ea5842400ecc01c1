/*
 * The call tree, from the outermost functions down or from the allocating
 * functions up. A click or the arrow keys open branches; initially the heaviest
 * path is open. Manually opened and closed branches are in the URL.
 */
import { fitName, mark } from "../../../page/names";
import * as quantity from "../../../page/quantity";
import { Pair } from "../address";
import { Branch, Report } from "../answers";
import { h } from "../dom";
import { ofFunction, ofRow } from "../menu_entries";
import { showMenu } from "../menu";
import { Reports } from "../own_peaks";
import * as rows from "../rows";
import { Column, Table } from "../table";
import { App, Part, Shown, View, choice, chooser, emptyMessage, redraw } from
	"../view";
import * as words from "../as_command";

const DEEP = 300;		/* points for names with indentation */
const WIDE = 60;		/* maximum of sibling branches */
const HEAVY = .3;		/* the heaviest child is open if it has this
				 * share of its caller */
const SORTS = rows.SORTS.filter(([name]) =>
	!["lifetime", "age"].includes(name));

interface Node {
	branch: Branch;
	path: string;		/* a hash of the names on the path */
	parent: Node | null;
	children: Node[];
}

function treeSort(app: App): ["top-down" | "bottom-up", string] {
	return [app.address.oneOf("tree", ["top-down", "bottom-up"]),
		app.address.oneOf("sort", ["live",
			...SORTS.map(([name]) => name)])];
}

function params(app: App): Pair[] {
	const [tree, sort] = treeSort(app);

	return [["tree", tree], ["sort", sort], ["top", String(WIDE)]];
}

function build(branches: Branch[]): Node[] {
	const roots: Node[] = [];
	const way: Node[] = [];

	for (const branch of branches) {
		way.length = branch.depth;
		const parent = way[branch.depth - 1] ?? null;
		const node: Node = { branch, parent, children: [], path:
			mark((parent?.path ?? "") + words.name(branch)) };

		(parent?.children ?? roots).push(node);
		way.push(node);
	}
	return roots;
}

class CallTree implements Shown {
	private readonly tools = h("div", { class: "tools" });
	private readonly reports: Reports;
	private readonly part: Part;
	private readonly table: Table<Node>;
	private readonly field: HTMLInputElement;
	private roots: Node[] = [];
	private shown: Node[] = [];
	private report: Report | undefined;

	constructor(element: HTMLElement, private readonly app: App) {
		this.reports = new Reports(app, "tree", "fills");
		this.part = this.reports.part;
		this.table = new Table<Node>("tree of calls", {
			sort: (column) => app.go({ sort: column }),
			open: (node) => this.toggle(node),
			menu: (_, place, node) => showMenu(...place,
				fitName(words.name(node.branch), 60), [
				...ofFunction(app, node.branch),
				...ofRow(app, node.branch, undefined)]),
			key: (key, node, at) => this.key(key, node, at) });
		this.field = h("input", { type: "search", spellcheck: "false",
			placeholder: "search functions",
			"aria-label": "search functions" });
		this.field.addEventListener("input", () =>
			app.address.amend({ search: this.field.value || null }));
		element.append(this.tools, this.reports.peaks.element,
			h("div", { class: "split" }, this.part.element));
	}

	/* ---- open branches ---- */

	private byHand(): Set<string> {
		return new Set((this.app.address.get("x") ?? "").split(".")
			.filter(Boolean));
	}

	private isOpen(node: Node, hand: Set<string>): boolean {
		const value = rows.valueOf(treeSort(this.app)[1]);
		const sought = this.app.address.get("search");
		const { parent } = node;
		const heaviest = (parent?.children ?? this.roots)[0] === node;
		const heavy = heaviest && (parent === null ||
			value(node.branch) >= HEAVY * value(parent.branch));

		return sought ? true : heavy !== hand.has(node.path);
	}

	private toggle(node: Node): void {
		const hand = this.byHand();

		if (node.children.length === 0)
			return;
		if (!hand.delete(node.path))
			hand.add(node.path);
		this.app.address.amend({ x: Array.from(hand).join(".") || null });
	}

	private key(key: string, node: Node, at: number): boolean {
		const open = this.isOpen(node, this.byHand());

		if (key === "ArrowRight" && node.children.length && !open)
			this.toggle(node);
		else if (key === "ArrowRight" && node.children.length)
			this.table.select(at + 1);
		else if (key === "ArrowLeft" && node.children.length && open)
			this.toggle(node);
		else if (key === "ArrowLeft" && node.parent)
			this.table.select(this.shown.indexOf(node.parent));
		else
			return false;
		return true;
	}

	/* Visible nodes: those whose callers are all open, or, in a search,
	 * hits with their callers. */
	private visible(): Node[] {
		const sought = (this.app.address.get("search") ?? "")
			.toLowerCase();
		const hand = this.byHand();
		const all: Node[] = [];
		const hits = (node: Node) => words.name(node.branch)
			.toLowerCase().includes(sought);
		const walk = (node: Node): boolean => {
			const at = all.length;
			let found = sought === "" || hits(node);

			all.push(node);
			if (this.isOpen(node, hand))
				for (const child of node.children)
					found = walk(child) || found;
			if (!found)
				all.length = at;
			return found;
		};

		for (const root of this.roots)
			walk(root);
		return all;
	}

	/* ---- drawing ---- */

	private name(node: Node): HTMLElement {
		const { branch, children } = node;
		const open = this.isOpen(node, this.byHand());
		const cell = h("span", { class: "branch" },
			h("i", { class: "twist", "aria-hidden": "true" },
			  children.length === 0 ? "" : open ? "▾" : "▸"),
			h("code", {}, words.name(branch)),
			h("small", {}, ` ${words.place(branch)}`));

		cell.style.setProperty("--depth", String(
			Math.min(branch.depth, 60)));
		return cell;
	}

	private columns(): Column<Node>[] {
		const [, sort] = treeSort(this.app);
		const value = rows.valueOf(sort);
		const whole = this.roots.reduce((sum, one) =>
			sum + value(one.branch), 0);
		const unit = rows.FIGURES.find(({ name }) => name === sort)
			?.unit ?? "bytes";
		const own: Column<Node> = { name: "self", title: "Self",
			wide: 66, right: true, help: "without callees",
			cell: ({ branch }) => rows.figure(unit,
							  value(branch.self)) };
		const part: Column<Node> = { name: "share", title: "Share",
			wide: 58, right: true, cell: ({ branch }) =>
			quantity.percent(value(branch), whole) };

		return [{ name: "name", title: "Function", min: DEEP,
			  cell: (node) => this.name(node) }, part, own,
			...rows.columns<Branch>(sort, whole).map((column) => ({
				...column, cell: (node: Node) =>
				column.cell(node.branch),
				share: column.share && ((node: Node) =>
					column.share?.(node.branch) ?? 0) }))];
	}

	private drawTools(): void {
		const { app, field } = this;
		const [tree, sort] = treeSort(app);

		if (document.activeElement !== field)
			field.value = app.address.get("search") ?? "";
		redraw(this.tools, choice("direction", [
			["top-down", "from main"],
			["bottom-up", "from allocation"]], tree, (value) =>
			app.go({ tree: value, x: null })),
			chooser("heaviest by", SORTS, sort, (value) =>
				app.go({ sort: value, x: null })), field);
	}

	private draw(): void {
		if (!this.report)
			return;
		this.shown = this.visible();
		if (this.shown.length === 0) {
			this.part.empty(...this.app.address.get("search") ?
				["No function has such a name."] :
				emptyMessage(this.app, "There is no allocation"));
			return;
		}
		if (!this.part.body.contains(this.table.element))
			this.part.body.replaceChildren(this.table.element);
		this.table.show(this.columns(), this.shown.length,
				(i) => this.shown[i], treeSort(this.app)[1]);
	}

	update(): void {
		this.drawTools();
		this.reports.show(params(this.app), treeSort(this.app)[1],
			(report) => {
				this.report = report;
				this.roots = build(this.report.rows as
						   unknown as Branch[]);
				this.draw();
			});
		this.draw();
	}

	search(): void {
		this.field.focus();
		this.field.select();
	}

	close(): void {
		this.reports.close();
	}
}

export const tree: View = {
	name: "tree", title: "Tree", key: "t",
	hint: "The call tree: from main down to the allocating functions, or " +
		"from these up to their callers. → and ← open and close a " +
		"branch.",
	command: (app) => words.command("report", [
		["tree", treeSort(app)[0]], ["sort", treeSort(app)[1]],
		...app.address.filters()], app.trace()),
	sql: (app) => rows.asSql("stack", treeSort(app)[1], app.address.filters()),
	open: (element, app) => new CallTree(element, app),
};
