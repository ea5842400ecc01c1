/*
 * Names: fitting them into boxes, and searching.
 */

/* East Asian and other wide characters take two columns. */
function letters(sign: string): number {
	return (sign.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}

/* The start of a name that fits into `room` columns of a fixed-width font. */
export function fitName(name: string, room: number): string {
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
 * Makes a regular expression of what the user typed, case-sensitive only if it
 * has capitals. Escapes unknown to the strict syntax mean the character.
 * `null`: nothing typed; `undefined`: not a regular expression.
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

/* A short hash of a name. */
export function mark(name: string): string {
	let hash = 0x811c9dc5;

	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
	return (hash >>> 8).toString(36);
}
