// Drives flame graphs, pictures and pages: test_flamegraph.py compares what
// they show with what reports say.

import { run } from "./browser.mjs";

const text = (page, what) => page.locator(what).first().textContent();
const settled = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(done))));

// ---- pictures ----

// Boxes in sight: name, left and right edge.
const boxes = (page) => page.evaluate(() =>
	Array.from(document.querySelectorAll(".f"))
		.filter((box) => box.style.display !== "none")
		.map((box) => {
			const rect = box.querySelector("rect");
			const text = box.querySelector("text");
			const x = Number(rect.getAttribute("x"));
			const width = Number(rect.getAttribute("width"));
			return { name: box.querySelector("title").textContent
				.split("\n")[0], x, width,
				y: Number(rect.getAttribute("y")),
				depth: Number(box.dataset.d),
				over: text.textContent === "" ? 0 :
				text.getComputedTextLength() - width };
		}));

async function picture(browser, { file, find, click }) {
	const page = await browser.open(file, { width: 1000 });
	const result = { before: await boxes(page) };
	const box = page.locator(".f", { hasText: click }).first();

	await box.locator("rect").hover();
	result.told = await text(page, ".said");
	await box.locator("rect").click();
	result.zoomed = await boxes(page);
	await page.keyboard.press("i");
	result.turned = await boxes(page);
	await page.keyboard.press("i");
	await page.getByRole("button", { name: "reset zoom" }).click();
	result.after = await boxes(page);
	await page.keyboard.press("/");
	await page.keyboard.type(find);
	await page.mouse.move(1, 1);
	result.found = await text(page, ".said");
	result.coloured = await page.locator(".f.found").count();
	await page.keyboard.type("(");
	result.wrong = await text(page, ".said");
	await page.keyboard.press("Escape");
	result.cleared = await text(page, ".said");
	await page.setViewportSize({ width: 700, height: 500 });
	await settled(page);
	result.narrow = await boxes(page);
	return result;
}

async function still(browser, { file }) {
	const page = await browser.open(file, { script: false });

	return { boxes: await boxes(page),
		 about: await text(page, ".about") };
}

// ---- pages ----

async function figures(page) {
	const rows = {};

	for (const row of await page.locator("#details tr[data-cost]").all()) {
		const told = await row.locator("td").first().innerText();
		const exact = /([\d,]+) bytes/.exec(told) ??
			[told, told.replace(" B", "")];

		rows[await row.getAttribute("data-cost")] =
			Number(exact[1].replaceAll(",", ""));
	}
	return rows;
}

async function look(page, pattern) {
	await page.locator("#search").fill(pattern);
	await page.locator("#search").press("Enter");
	return { found: await text(page, "#found"),
		 name: await text(page, "#details h2"),
		 figures: await figures(page) };
}

const bar = (page, row, up) => page.evaluate(([at, flame]) => {
	const box = document.querySelector("#graph canvas")
		.getBoundingClientRect();
	return { x: box.x + 5, y: flame ? box.bottom - 10 - 20 * at :
		box.y + 10 + 20 * at };
}, [row, up]);

async function clickRow(page, row, up) {
	const { x, y } = await bar(page, row, up);

	await settled(page);
	await page.mouse.click(x, y);
	await settled(page);
	return text(page, "#details h2");
}

// The row in which a function is: the share of it that each name has, as the
// mouse meets it.
async function widths(page, name) {
	const wide = await page.locator("#graph canvas").boundingBox();
	const shares = {};

	await page.locator("#search").fill(`^${name}`);
	await page.locator("#search").press("Enter");
	const row = await page.locator(".stack li").count();
	await page.locator("h1").click();
	const { y } = await bar(page, row, false);
	for (let i = 0; i < 200; i++) {
		await page.mouse.move(wide.x + (i + .5) / 200 * wide.width, y);
		const tip = page.locator("#tip");
		if (await tip.isHidden())
			continue;
		const name = (await tip.textContent()).split("\n")[0];
		shares[name] = (shares[name] ?? 0) + 1 / 200;
	}
	await page.keyboard.press("Escape");
	return shares;
}

async function whole(browser, { file, names }) {
	const page = await browser.open(file);
	const result = { figures: await figures(page), costs: {}, looks: {} };

	for (const cost of ["live", "peak", "temporary", "total", "count"]) {
		await page.locator("#costs label", { hasText: cost }).click();
		result.costs[cost] = await text(page, ".shown th");
	}
	for (const name of names)
		result.looks[name] = await look(page, name);
	result.about = await text(page, "#about");
	return result;
}

/* How high the curve is drawn, in a hundred places from left to right; the
 * mouse is elsewhere. */
async function curve(at) {
	await at.mouse.move(0, 0);
	return at.evaluate(() => {
		const canvas = document.querySelector("#timeline canvas");
		const paint = canvas.getContext("2d");
		const heights = [];

		for (let i = 0; i < 100; i++) {
			const x = Math.floor((i + .5) / 100 * canvas.width);
			const column = paint.getImageData(x, 0, 1,
							  canvas.height).data;
			let high = 0;

			for (let y = 0; y < canvas.height; y++)
				high += column[4 * y + 3] > 0;
			heights.push(high / canvas.height);
		}
		return heights;
	});
}

/* What is said where the mouse points to so much of the time. */
async function moments(at, parts) {
	const wide = await at.locator("#timeline canvas").boundingBox();
	const said = [];

	for (const part of parts) {
		await at.mouse.move(wide.x + part * wide.width, wide.y + 9);
		said.push(await text(at, "figcaption"));
	}
	return said;
}

async function page(browser, { file }) {
	const at = await browser.open(file);
	const result = {};
	const unzoomed = () => at.locator("#unzoom").isDisabled();

	await at.keyboard.press("4");	// count
	result.count = await text(at, ".shown th");
	result.widths = await widths(at, "outer");
	result.clicked = await clickRow(at, 3, false);
	result.stack = await at.locator(".stack button").allInnerTexts();
	result.places = await at.locator(".stack small").allInnerTexts();
	result.zoomed = !await unzoomed();
	await at.locator("#unzoom").click();
	result.reset = await unzoomed();
	await at.locator("#layouts label", { hasText: "flame" }).click();
	result.bottom = await clickRow(at, 0, true);
	result.flame = await clickRow(at, 3, true);
	await at.keyboard.press("Escape");
	await at.locator("h1").click();		// the focus is nowhere
	await at.keyboard.press("i");
	result.top = await clickRow(at, 0, false);
	for (const key of ["ArrowDown", "ArrowDown", "Enter"])
		await at.keyboard.press(key);
	result.walked = (await at.locator(".stack button").allInnerTexts())
		.length;
	result.entered = !await unzoomed();
	await at.locator(".stack button").last().click();
	result.outermost = (await at.locator(".stack button")
		.allInnerTexts()).length;
	await at.keyboard.press("Escape");
	result.escaped = await unzoomed();
	result.timeline = await text(at, "figcaption");
	// not before the first event, however late that is
	result.moment = (await moments(at, [.98]))[0];
	result.curve = await curve(at);
	result.moments = await moments(at, [.02, .5, .98]);
	await clickRow(at, 3, false);
	await at.locator("#timeline canvas").focus();
	for (const key of ["ArrowRight", "ArrowRight"])
		await at.keyboard.press(key);
	result.share = await text(at, "figcaption");
	await at.keyboard.press("Escape");
	const { x, y } = await bar(at, 1, false);
	await at.mouse.move(x, y);
	result.tip = await text(at, "#tip");
	result.wide = {};
	for (const width of [400, 2000]) {
		await at.setViewportSize({ width, height: 900 });
		await settled(at);
		result.wide[width] = await at.evaluate(() =>
			document.documentElement.scrollWidth - innerWidth);
	}
	return result;
}

// ---- comparisons ----

// Of a row of boxes, the share that each function has, and its colour.
async function row(at, number) {
	const wide = await at.locator("#graph canvas").boundingBox();
	const { y } = await bar(at, number, false);
	const shares = {}, colours = {};

	for (let i = 0; i < 1000; i++) {
		const x = (i + .5) / 1000 * wide.width;

		await at.mouse.move(wide.x + x, y);
		if (await at.locator("#tip").isHidden())
			continue;
		const name = (await text(at, "#tip")).split("\n")[0];
		shares[name] = (shares[name] ?? 0) + 1 / 1000;
		colours[name] ??= await at.evaluate(([left, top]) => {
			const canvas = document.querySelector("#graph canvas");
			const box = canvas.getBoundingClientRect();
			const paint = canvas.getContext("2d");

			return Array.from(paint.getImageData(left + 1,
				top - box.y + 8, 1, 1).data);
		}, [x, y]);
	}
	return { shares, colours };
}

const cells = async (at) => Object.fromEntries(await Promise.all(
	(await at.locator("#details tr[data-cost]").all()).map(async (line) =>
		[await line.getAttribute("data-cost"),
		 await line.locator("td").allInnerTexts()])));

async function compared(browser, { file, names }) {
	const at = await browser.open(file);
	const result = { title: await text(at, "h1"), whole: await cells(at),
		legend: await at.locator("#legend span").allInnerTexts(),
		found: {}, figures: {} };

	for (const name of names) {
		await at.locator("#search").fill(`^${name}$`);
		await at.locator("#search").press("Enter");
		result.found[name] = await text(at, "#found");
		result.figures[name] = await cells(at);
	}
	const depth = await at.locator(".stack li").count();
	await at.keyboard.press("Escape");
	await settled(at);
	const all = await row(at, depth);
	result.all = all.shares;
	result.colours = all.colours;
	await at.locator("#widths label", { hasText: "changes" }).click();
	await settled(at);
	result.changes = (await row(at, depth)).shares;
	await at.locator("#orders label", { hasText: "allocation" }).click();
	await at.locator("#search").fill("grown");
	await at.locator("#search").press("Enter");
	result.turned = await at.locator(".stack button").last().innerText();
	return result;
}

await run(async (job, browser) => {
	const kinds = { picture, still, whole, page, compared };
	const result = {};

	for (const [name, one] of Object.entries(job))
		result[name] = await kinds[one.kind](browser, one);
	return result;
});
