// Files in speedscope itself, the npm package, as it comes from this machine's
// server: test_export_speedscope.py compares what it shows, and what it writes
// when it is told to export, with what reports say. Each file is held against
// the package's own schema by ajv, too.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

import { run } from "./browser.mjs";

const require = createRequire(path.join(process.env.GNOMON_UI, "here.js"));
const Ajv = require("ajv");

const text = (page) => page.evaluate(() => document.body.innerText);

// What the export button saves: all profiles as speedscope holds them.
async function saved(page) {
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.keyboard.press("Control+s")]);
	const { profiles, shared, name } = JSON.parse(
		readFileSync(await download.path(), "utf-8"));

	return { profiles, name, frames: shared.frames };
}

// The table of functions: "1.50 KB (3.2%)", the same of the function alone,
// its name.
async function rows(page) {
	const cells = (await text(page)).split("Symbol Name")[1]
		.split(/[\n\t]+/).map((cell) => cell.trim())
		.filter((cell) => cell !== "");
	const list = [];

	for (let i = 0; i + 2 < cells.length; i += 3)
		list.push(cells.slice(i, i + 3));
	return list;
}

async function looked(browser, { base, file }) {
	const page = await browser.open(
		`${base}/index.html#profileURL=${base}/${file}`);
	const title = page.getByText(/ \(\d\/\d\)$/).first();
	const shown = [];

	await title.waitFor();
	const first = (await title.textContent()).replace(/ \(.*$/, "");
	await page.keyboard.press("3");		// the sandwich view
	await page.getByText("Symbol Name").waitFor();
	while (!/\(1\//.test(await title.textContent()))
		await page.keyboard.press("p");
	for (let at = 1; ; at++) {
		await page.getByText(`(${at}/`).first().waitFor();
		const [, name, count] =
			/^(.*) \(\d\/(\d)\)$/.exec(await title.textContent());

		shown.push({ name, rows: await rows(page) });
		if (at >= Number(count))
			break;
		await page.keyboard.press("n");
	}
	return { first, shown, ...await saved(page) };
}

await run(async ({ schema, base, folder, files }, browser) => {
	const validate = new Ajv({ allErrors: true, strict: false }).compile(
		JSON.parse(readFileSync(schema, "utf-8")));
	const said = {};

	for (const file of files) {
		const content = JSON.parse(readFileSync(
			path.join(folder, file), "utf-8"));
		const valid = validate(content);

		said[file] = { valid, wrong: validate.errors,
			       ...await looked(browser, { base, file }) };
	}
	return { said };
});
