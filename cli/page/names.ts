/*
 * Names in boxes, and looking for them.
 */

/* Signs of East Asia, and such, are two letters wide. */
function letters(sign: string): number {
	return (sign.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}

/* The start of a name that fits into so many letters of a fixed-width font. */
export function fitting(name: string, room: number): string {
	let used = 0;
	let at = 0;
	let twoLess = 0;

	if (room < 3)
		return "";
	for (const sign of name) {
		used += letters(sign);
		if (used > room)
			return name.slice(0, twoLess) + "..";
		at += sign.length;
		if (used + 2 <= room)
			twoLess = at;
	}
	return name;
}

/*
 * What was typed, as a regular expression: capitals count only if there are
 * some. Escapes that the strict syntax does not know are taken for what they
 * say. `null`: nothing was typed; `undefined`: it is none.
 */
export function pattern(typed: string): RegExp | null | undefined {
	const flags = typed === typed.toLowerCase() ? "i" : "";

	if (typed === "")
		return null;
	for (const strict of ["u", ""])
		try {
			return new RegExp(typed, flags + strict);
		} catch {
			continue;
		}
	return undefined;
}

/* A few letters that hardly another name has. */
export function mark(name: string): string {
	let hash = 0x811c9dc5;

	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
	return (hash >>> 8).toString(36);
}
