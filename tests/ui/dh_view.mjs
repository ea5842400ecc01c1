// Opens DHAT files in DHAT's own viewer: test_export_dhat.py compares what it
// makes of them with what reports say.

import { run } from "./browser.mjs";

// What the viewer's program has read; names are of its source.
const gathered = () => {
	const leaves = (node) => node._kids ? node._kids.flatMap(leaves) :
		[node];
	const all = leaves(gRoot);

	return {
		total: [gRoot._totalBlocks, gRoot._totalBytes],
		peak: [gRoot._atTGmaxBlocks, gRoot._atTGmaxBytes],
		end: [gRoot._atTEndBlocks, gRoot._atTEndBytes],
		most: all.map((node) => node._maxBytes),
		frames: gData.ftbl,
		text: gMainDiv.textContent,
	};
};

async function opened(browser, { url, file, sorted }) {
	const page = await browser.open(url);

	await page.setInputFiles("input[type=file]", file);
	await page.waitForFunction(() => gFilename &&
		gMainDiv.textContent !== "Loading...");
	const wrong = await page.locator(".error").allTextContents();
	if (wrong.length > 0)
		return { wrong };
	const result = await page.evaluate(gathered);
	// Each order in which it can show the tree.
	for (const label of sorted ?? []) {
		await page.locator("select").selectOption({ label });
		result.text += await page.evaluate(() => gMainDiv.textContent);
	}
	return result;
}

await run(async (job, browser) => {
	const result = {};

	for (const [name, one] of Object.entries(job))
		result[name] = await opened(browser, one);
	return result;
});
