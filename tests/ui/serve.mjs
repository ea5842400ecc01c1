// Drives the page of `gnomon serve`: test_serve_page.py says which steps to go,
// and compares what a user sees with what was planted in the programs.
//
// A job: { url, runs: { name: { hash, scheme, steps } } }. A step is a list, of
// what to do and with what; one that reads something puts it under its name.

import { createRequire } from "node:module";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";

import { run } from "./browser.mjs";

const require = createRequire(path.join(process.env.GNOMON_UI, "here.js"));

const TRIES = 50;

const frames = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(done))));

// Nothing is asked any more, and what came is drawn: nor does what is drawn ask
// for more, as rows in sight do.
async function settled(page) {
	const idle = () => document.querySelector("#trace option") &&
		!document.querySelector(".busy, [aria-busy=true]") &&
		!/Loading…/.test(document.querySelector("#view").innerText);

	for (let i = 0; i < TRIES; i++) {
		await frames(page);
		await page.waitForFunction(idle);
		await frames(page);
		if (await page.evaluate(idle))
			return;
	}
	throw new Error("the page is never at rest");
}

async function axe(page) {
	// The page's policy lets no script in: it is evaluated by the debugger.
	await page.evaluate(fs.readFileSync(
		require.resolve("axe-core/axe.min.js"), "utf8"));
	const { violations } = await page.evaluate(() => window.axe.run());
	return violations.filter(({ impact }) => impact === "serious" ||
		impact === "critical").map(({ id, nodes }) =>
		`${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160))
			.join(" | ")}`);
}

// Drags over an element, from one part of its width to another.
async function drag(page, selector, from, to) {
	await page.locator(selector).first().scrollIntoViewIfNeeded();
	const box = await page.locator(selector).first().boundingBox();
	const y = box.y + Math.min(20, box.height / 2);

	await page.mouse.move(box.x + from * box.width, y);
	await page.mouse.down();
	for (let i = 1; i <= 8; i++)
		await page.mouse.move(box.x + (from + (to - from) * i / 8) *
			box.width, y);
	await page.mouse.up();
}

// The first row in sight that has a text: some are drawn that are not, and others
// are drawn in their place when they are scrolled to.
async function clickRow(page, text, button) {
	const find = () => page.evaluate((wanted) => {
		const rows = [...document.querySelectorAll(".t-row")]
			.filter((row) => row.innerText.includes(wanted));
		const seen = rows.find((row) => {
			const box = row.getBoundingClientRect();
			const at = document.elementFromPoint(
				box.left + box.width / 2, box.top + box.height / 2);

			return row.contains(at);
		});
		const box = seen?.getBoundingClientRect();

		if (!seen)
			rows[0]?.scrollIntoView({ block: "center" });
		return box && { x: box.left + box.width / 2,
				y: box.top + box.height / 2 };
	}, text);

	await page.locator(".t-row", { hasText: text }).first()
		.waitFor({ state: "attached" });
	for (let i = 0; i < TRIES; i++) {
		const at = await find();

		if (at)
			return page.mouse.click(at.x, at.y, { button });
		await settled(page);
	}
	throw new Error(`no row with ${text} comes into sight`);
}

const started = [];	// servers

function end(server) {
	return new Promise((done) => {
		server.on("exit", done);
		server.kill();
	});
}

const texts = (page, selector) => page.locator(selector).allInnerTexts();

const steps = {
	click: (page, selector) => page.locator(selector).first().click(),
	link: (page, name) => page.getByRole("link", { name, exact: true })
		.first().click(),
	button: (page, name) => page.getByRole("button", { name, exact: true })
		.first().click(),
	item: (page, text) => page.locator("[role=menuitem]", { hasText: text })
		.first().click(),
	right: (page, selector) => page.locator(selector).first()
		.click({ button: "right" }),
	row: (page, text) => clickRow(page, text, "left"),
	rightRow: (page, text) => clickRow(page, text, "right"),
	choose: (page, label, value) => page.getByLabel(label, { exact: true })
		.selectOption(value),
	fill: (page, label, value) => page.getByLabel(label, { exact: true })
		.fill(value),
	press: (page, key) => page.keyboard.press(key),
	// Nothing can be drawn between the two.
	twice: (page, key) => page.evaluate((key) => {
		const element = document.activeElement;

		for (let i = 0; i < 2; i++)
			element.dispatchEvent(new KeyboardEvent("keydown",
				{ key, bubbles: true, cancelable: true }));
	}, key),
	type: (page, text) => page.keyboard.type(text),
	focus: (page, selector) => page.locator(selector).first().focus(),
	drag,
	wheel: async (page, selector, by) => {
		await page.locator(selector).first().hover();
		await page.mouse.wheel(0, by);
	},
	hover: (page, selector) => page.locator(selector).first().hover(),
	back: (page) => page.goBack(),
	forward: (page) => page.goForward(),
	reload: (page) => page.reload(),
	go: (page, hash) => page.evaluate((to) => { location.hash = to; }, hash),
	/* Answers to such calls come when something is in sight. */
	late: (page, calls, selector) => page.route(calls, async (route) => {
		await page.locator(selector).first().waitFor();
		return route.fallback();
	}),
	record: (page, argv) => void execFileSync(argv[0], argv.slice(1)),
	wait: (page, selector) => page.locator(selector).first()
		.waitFor({ state: "attached" }),
	scheme: (page, scheme) => page.emulateMedia({ colorScheme: scheme }),
	/* A server that was started by the test, and the same again. */
	kill: (page, pid) => process.kill(pid, "SIGTERM"),
	serve: (page, argv) => {
		started.push(spawn(argv[0], argv.slice(1), { stdio: "ignore" }));
	},
	shown: (page, selector) => page.locator(selector).first().waitFor(),
	gone: (page, selector) => page.locator(selector).first()
		.waitFor({ state: "hidden" }),
	shot: (page, file) => page.screenshot({ path: file }),
};

const readers = {
	texts,
	text: (page, selector) => page.locator(selector).first().innerText(),
	count: (page, selector) => page.locator(selector).count(),
	// What is in an element, and what of it is in sight, in points.
	width: (page, selector) => page.locator(selector).first().evaluate(
		(one) => [one.scrollWidth, one.clientWidth]),
	size: (page, selector) => page.locator(selector).first().evaluate(
		(one) => one.clientWidth),
	// Upper and lower edge, in points of the window.
	edges: (page, selector) => page.locator(selector).first().evaluate(
		(one) => [one.getBoundingClientRect().top,
			  one.getBoundingClientRect().bottom]),
	value: (page, selector) => page.locator(selector).first().inputValue(),
	attribute: (page, selector, name) => page.locator(selector).first()
		.getAttribute(name),
	hash: (page) => page.evaluate(() => location.hash),
	focused: (page) => page.evaluate(() =>
		document.activeElement?.textContent ?? ""),
	axe,
	// What a script of the page could not be kept from making.
	injected: (page) => page.evaluate(() => [window.injected ?? null,
		document.querySelectorAll("#view img, #view script, #view b i")
			.length]),
	download: async (page, text) => {
		const coming = page.waitForEvent("download");

		await page.locator("[role=menuitem]", { hasText: text }).first()
			.click();
		return fs.readFileSync(await (await coming).path(), "utf8")
			.slice(0, 4000);
	},
	// Of the points of a canvas, how many look most like each swatch of a key.
	painted: (page, canvas, key) => page.evaluate(([canvas, key]) => {
		const on = document.querySelector(canvas);
		const { data } = on.getContext("2d").getImageData(0, on.height >> 1,
			on.width, 1);
		const names = [...document.querySelectorAll(`${key} li`)]
			.map((item) => ({ name: item.innerText.trim(),
				rgb: (getComputedStyle(item.querySelector("i"))
					.backgroundColor.match(/[\d.]+/g) ?? [])
					.map(Number) }))
			.filter(({ rgb }) => rgb.length === 3);
		const counts = Object.fromEntries(names.map(({ name }) =>
			[name, 0]));

		for (let i = 0; i < data.length; i += 4) {
			const far = ({ rgb }) => rgb.reduce((sum, part, k) =>
				sum + (part - data[i + k]) ** 2, 0);

			counts[names.reduce((best, one) => far(one) < far(best) ?
				one : best).name]++;
		}
		return counts;
	}, [canvas, key]),
	// What the menu of "Copy" puts into the clipboard, by the text of an item.
	copied: async (page, text) => {
		await page.evaluate(() => {
			navigator.clipboard.writeText = (copied) => {
				window.copied = copied;
				return Promise.resolve();
			};
		});
		await page.locator("#copy").click();
		await page.locator("[role=menuitem]", { hasText: text }).first()
			.click();
		await page.waitForFunction(() => window.copied !== undefined);
		return page.evaluate(() => window.copied);
	},
	// Calls of the server, without their tickets, since the page was opened.
	calls: (page) => page.evaluate(() =>
		performance.getEntriesByType("resource")
			.map(({ name }) => decodeURIComponent(name))
			.filter((name) => name.includes("/traces/"))
			.map((name) => name.replace(/.*\/traces\/[^/]*\//, "")
				.replace(/[?&]ticket=.*/, ""))),
	// How long it takes to draw a frame while the mouse brushes.
	frames: async (page, selector) => {
		await page.evaluate(() => {
			window.times = [];
			const tick = (now) => {
				window.times.push(now);
				window.ticking = requestAnimationFrame(tick);
			};
			requestAnimationFrame(tick);
		});
		for (let i = 0; i < 3; i++)
			await drag(page, selector, .2 + i / 10, .6 + i / 10);
		return page.evaluate(() => {
			cancelAnimationFrame(window.ticking);
			return window.times.slice(1).map((time, i) =>
				time - window.times[i]);
		});
	},
};

async function go(browser, url, { hash, scheme, list, size, bare }) {
	const page = await browser.open(url + (hash ?? ""), { scheme,
		width: size?.[0] ?? 1366, height: size?.[1] ?? 860 });
	const read = {};

	if (bare)
		await page.locator("#view > *").first().waitFor();
	else
		await settled(page);
	for (const [what, ...more] of list) {
		if (what in steps) {
			await steps[what](page, ...more);
			if (!bare)
				await settled(page);
		} else {
			const [name, ...rest] = more;

			read[name] = await readers[what](page, ...rest);
		}
	}
	await page.context().close();
	return read;
}

await run(async (job, browser) => {
	const result = {};

	for (const [name, one] of Object.entries(job.runs))
		result[name] = await go(browser, job.url, one);
	await Promise.all(started.map(end));
	return result;
});
