// Drives the page of `gnomon graph`: test_graph.py compares what it tells with
// the figures in JSON.

import { run } from "./browser.mjs";

const settled = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(done))));

const values = (page) => page.evaluate(() =>
	Array.from(document.querySelectorAll("#legend td:last-child"),
		(cell) => Number(cell.textContent.replaceAll(",", ""))));

const moment = (page) => page.locator("#moment").textContent();

// Points of the plot that have the colour of a series.
const points = (page, number) => page.evaluate((number) => {
	const canvas = document.querySelector("#plot canvas");
	const { data } = canvas.getContext("2d").getImageData(0, 0,
		canvas.width, canvas.height);
	const colour = getComputedStyle(document.querySelectorAll(
		"#legend .swatch")[number]).color.match(/\d+/g).map(Number);
	let count = 0;

	for (let i = 0; i < data.length; i += 4)
		count += colour.every((part, k) => data[i + k] === part);
	return count;
}, number);

const ground = (page) => page.evaluate(() =>
	getComputedStyle(document.body).backgroundColor);

async function page(browser, { file }) {
	const page = await browser.open(file);
	const box = await page.locator("#plot canvas").boundingBox();
	const result = { costs: {}, wide: {} };

	result.names = await page.locator("#legend td:first-child")
		.allTextContents();
	for (const [i, cost] of ["live", "peak", "total", "count",
				 "temporary"].entries()) {
		await page.keyboard.press(String(i + 1));
		result.costs[cost] = { most: await values(page),
			layout: await page.locator("[name=layout]:checked")
				.getAttribute("value") };
	}
	await page.locator("#costs label", { hasText: "count" }).click();
	result.about = await page.locator("#about").textContent();
	result.drawn = await points(page, 0);
	await page.mouse.move(box.x + 64 + (box.width - 78) * 20.5 / 40,
			      box.y + 50);
	result.then = await values(page);
	result.moment = await moment(page);
	await page.locator("#plot").focus();
	await page.keyboard.press("ArrowRight");
	result.walked = await moment(page);
	await page.locator("#legend label").first().click();
	await settled(page);
	result.less = await points(page, 0);
	for (const width of [400, 2000]) {
		await page.setViewportSize({ width, height: 600 });
		await settled(page);
		result.wide[width] = await page.evaluate(() => Math.max(0,
			document.documentElement.scrollWidth - innerWidth));
	}
	result.light = await ground(page);
	await page.emulateMedia({ colorScheme: "dark" });
	result.dark = await ground(page);
	return result;
}

await run(async (pages, browser) => {
	const said = {};

	for (const [name, what] of Object.entries(pages))
		said[name] = await page(browser, what);
	return said;
});
