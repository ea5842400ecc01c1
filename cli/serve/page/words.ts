/*
 * The same as a view, in other words: as a command of gnomon, as SQL, as text
 * of a stack.
 */
import { Pair } from "./address";
import { Frame, Trace } from "./answers";

function quoted(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word :
		`'${word.replace(/'/g, "'\\''")}'`;
}

/* Options that are for programs alone. */
const OWN = new Set(["json", "frame-table", "ticket", "statement"]);

export function command(name: string, params: Pair[], trace: Trace,
			more: string[] = []): string {
	const options = params.filter(([option]) => !OWN.has(option))
		.map(([option, value]) => value === "" ? `--${option}` :
		     `--${option} ${quoted(value)}`);

	return ["gnomon", name, ...options, quoted(trace.path),
		...more.map(quoted)].join(" ");
}

const OWN_COLUMNS = new Set(["process", "context", "free-context", "thread",
	"arena", "heap", "mmapped", "temporary", "fate", "function", "library"]);
const WORDS = new Set(["from", "to"]);

/* Filters as a condition, as docs/SQL.md has them; "": none. */
export function condition(filters: Pair[]): string {
	const values = new Map<string, string[]>();

	for (const [name, value] of filters)
		values.set(name, [...values.get(name) ?? [], value]);
	const all = Array.from(values).map(([name, list]) => {
		const column = name.replace(/-/g, "_");
		const full = OWN_COLUMNS.has(name) || WORDS.has(name) ?
			`with_${column}` : column;
		const texts = list.map((one) => `'${one.replace(/'/g, "''")}'`);

		return texts.length === 1 ? `${full} = ${texts[0]}` :
			`${full} in (${texts.join(", ")})`;
	});
	return all.join("\n    and ");
}

export function where(filters: Pair[]): string {
	const all = condition(filters);

	return all && `\nwhere ${all}`;
}

/* ---- frames ---- */

export function base(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

export function name(frame: Frame | undefined): string {
	return frame?.function ?? "(code in no file)";
}

export function place(frame: Frame | undefined): string {
	if (!frame?.file)
		return frame?.library ?? "";
	return frame.line ? `${base(frame.file)}:${frame.line}` :
		base(frame.file);
}

export function stackText(stack: Frame[]): string {
	return stack.map((frame) => [name(frame), place(frame),
		frame.library ?? ""].filter(Boolean).join("  ")).join("\n") +
		"\n";
}

export async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false;
	}
}
