/*
 * Rebuilds the tree from the same stacks: from the allocating functions outward
 * to their callers, or with direct recursion folded into one box.
 *
 * The self values of a stack, a node's without its children's, are added to
 * each node on the stack's path in the new tree.
 */
import { Column, Data, Tree } from "./flame_data";

export type Order = "callers" | "callees";

export const ORDERS: { order: Order; text: string; title: string }[] = [
	{ order: "callers", text: "from main",
	  title: "callers first: a function's callees are next to it" },
	{ order: "callees", text: "from allocation",
	  title: "allocating functions first: their callers are next to them" },
];

/* All "smaller" functions of one caller are one box. */
const SMALLER = -1;

interface Node {
	frame: number;
	more: number;			/* number of functions in a "smaller"
					 * box */
	sums: Float64Array;
	children: Map<number, Node>;
}

function valueColumns(data: Data): Column[] {
	return Object.keys(data.nodes).filter((name) =>
		name !== "depth" && name !== "frame") as Column[];
}

function makeNode(frame: number, columnCount: number): Node {
	return { frame, more: 0, sums: new Float64Array(columnCount),
		 children: new Map() };
}

/* The child for a frame, which is added if it is not there. */
function enterChild(node: Node, frame: number, columnCount: number): Node {
	const key = Math.max(frame, SMALLER);
	const next = node.children.get(key) ?? makeNode(key, columnCount);

	node.children.set(key, next);
	if (frame < 0)
		next.more += -1 - frame;
	return next;
}

/* Frames of a node's stack, in the order of the new tree. */
function stackFrames(tree: Tree, node: number, order: Order,
		     fold: boolean): number[] {
	const frames: number[] = [];
	let inner = "";

	for (let n = node; n !== 0; n = tree.parent[n]) {
		const name = tree.name(n);

		if (!fold || name !== inner)
			frames.push(tree.data.nodes.frame[n]);
		inner = name;
	}
	return order === "callers" ? frames.reverse() : frames;
}

/* The self values of each node. */
function selfValues(tree: Tree, all: Column[]): Float64Array[] {
	const sums = all.map((column) =>
		Float64Array.from(tree.data.nodes[column] ?? []));

	for (let n = 1; n < tree.count; n++)
		for (let i = 0; i < all.length; i++)
			sums[i][tree.parent[n]] -= tree.value(all[i], n);
	return sums;
}

function add(node: Node, sums: Float64Array[], n: number): void {
	for (let i = 0; i < sums.length; i++)
		node.sums[i] += sums[i][n];
}

function buildTree(tree: Tree, all: Column[], order: Order,
		   fold: boolean): Node {
	const sums = selfValues(tree, all);
	const root = makeNode(SMALLER, all.length);

	for (let n = 0; n < tree.count; n++) {
		let node = root;

		if (all.every((_, i) => sums[i][n] === 0))
			continue;
		add(root, sums, n);
		for (const frame of stackFrames(tree, n, order, fold)) {
			node = enterChild(node, frame, all.length);
			add(node, sums, n);
		}
	}
	return root;
}

/* Nodes in preorder, as flame_data.ts requires. */
function flatten(root: Node, all: Column[], data: Data): Data {
	const nodes = { depth: [] as number[], frame: [] as number[] } as
		Data["nodes"];
	const left: [Node, number][] = [[root, 0]];

	for (const column of all)
		nodes[column] = [];
	for (let next = left.pop(); next; next = left.pop()) {
		const [node, depth] = next;

		nodes.depth.push(depth);
		nodes.frame.push(node.frame >= 0 ? node.frame :
			-1 - node.more);
		all.forEach((column, i) => nodes[column]?.push(node.sums[i]));
		for (const child of node.children.values())
			left.push([child, depth + 1]);
	}
	return { ...data, nodes, tracks: undefined };
}

export function reorderTree(tree: Tree, order: Order, fold: boolean): Tree {
	const all = valueColumns(tree.data);

	if (order === "callers" && !fold)
		return tree;
	return new Tree(flatten(buildTree(tree, all, order, fold), all,
				tree.data));
}
