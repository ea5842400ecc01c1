// Drives the page of `gnomon serve` and measures it, for bench_ui.py, with the
// browser driver of the tests (tests/ui/browser.mjs).
//
// A job: { url, part, filters: [[name, hash]], views: [[name, hash]], rows }.
// Times are milliseconds of the page's own clock. A view is *drawn* when no request
// for it is pending, and *whole* when the parts that it adds later (class "later")
// are there, too.

import { run } from "../tests/ui/browser.mjs";

const FRAMES = 60;		// moves of the mouse
const PLACES = [0, .25, .5, .75, 1, .1, .9, .6];

// In the page. Calls `done` with the time at which nothing was asked for, twice
// running.
const watch = () => {
	const LATER = ".later";
	const PATIENCE_MS = 60000;
	const busy = (all) => [...document.querySelectorAll(
		".busy, [aria-busy=true]")].some((one) =>
		all || !one.closest(LATER));
	const loads = () => /Loading…/.test(
		document.querySelector("#view").innerText);

	window.frame = () => new Promise(requestAnimationFrame);
	window.idle = async (all) => {
		const begun = performance.now();

		for (let since = 0; ;) {
			await window.frame();
			const now = performance.now();
			if (now - begun > PATIENCE_MS)
				throw new Error(`${location.hash} is never at ` +
					"rest: " + [...document
					.querySelectorAll(".busy, " +
						"[aria-busy=true]")].map((one) =>
						one.className).join());
			if (!document.querySelector("#trace option") ||
			    busy(all) || (all && loads()))
				since = 0;
			else if (since)
				return since;
			else
				since = now;
		}
	};
	// From when something is done until the view is drawn, and whole.
	window.timed = async (act) => {
		const from = performance.now();
		await act();
		const drawn = await window.idle(false) - from;
		return { drawn, whole: await window.idle(true) - from };
	};
	window.goTo = (hash) => new Promise((done) => {
		if (location.hash === hash)
			return done();
		addEventListener("hashchange", done, { once: true });
		location.hash = hash;
	});
	window.startFrames = () => {
		window.times = [];
		const tick = (now) => {
			window.times.push(now);
			window.ticking = requestAnimationFrame(tick);
		};
		window.ticking = requestAnimationFrame(tick);
	};
	window.endFrames = () => {
		cancelAnimationFrame(window.ticking);
		return window.times.slice(1).map((time, i) =>
			time - window.times[i]);
	};
};

async function opened(browser, url) {
	const page = await browser.open(url,
		{ width: 1366, height: 860 });

	page.on("pageerror", (error) => console.error(page.url(), error.stack));
	await page.evaluate(watch);
	return page;
}

// From the start of navigation, as all of performance.now().
async function overview(browser, url, firstAlone) {
	const page = await opened(browser, url);
	const first = await page.evaluate(async () => {
		while (!document.querySelector(".finding"))
			await window.frame();
		return performance.now();
	});
	if (firstAlone)
		return { page, first };
	const drawn = await page.evaluate(() => window.idle(false));
	const whole = await page.evaluate(() => window.idle(true));
	const bytes = await page.evaluate(() => [
		...performance.getEntriesByType("navigation"),
		...performance.getEntriesByType("resource")]
		.filter(({ name }) => !name.includes("/api/"))
		.reduce((sum, one) => sum + one.encodedBodySize, 0));

	return { page, first, drawn, whole, bytes };
}

const go = (page, hash) => page.evaluate((to) =>
	window.timed(() => window.goTo(to)), hash);

async function views(page, job) {
	const all = {};

	for (const [name, hash] of job.views) {
		const times = { none: await go(page, `#${hash}`) };
		const joint = hash.includes("?") ? "&" : "?";

		for (const [filter, more] of job.filters)
			if (!job.without.includes(`${name} ${filter}`)) {
				times[filter] = await go(page,
					`#${hash}${joint}${more}`);
				await go(page, `#${hash}`);
			}
		all[name] = times;
	}
	return all;
}

// Over a timeline, from one side to the other; frames while the mouse is down,
// and how long results take from when it is up.
async function brush(page) {
	await go(page, "#overview");
	const box = await page.locator(".lanes-section .timeline, " +
		".lanes-section svg").first().boundingBox();
	const y = box.y + 30;
	const at = (part) => box.x + part * box.width;

	await page.mouse.move(at(.2), y);
	await page.mouse.down();
	await page.evaluate(() => window.startFrames());
	for (let i = 1; i <= FRAMES; i++)
		await page.mouse.move(at(.2 + .4 * i / FRAMES), y);
	const frames = await page.evaluate(() => window.endFrames());
	const before = await page.evaluate(() => location.hash);
	await page.evaluate(() => {
		window.upped = new Promise((done) => addEventListener(
			"pointerup", () => done(performance.now()),
			{ once: true, capture: true }));
	});
	await page.mouse.up();
	const times = await page.evaluate(async () => {
		const from = await window.upped;
		return { drawn: await window.idle(false) - from,
			 whole: await window.idle(true) - from };
	});
	if (before === await page.evaluate(() => location.hash))
		throw new Error("the brush is no filter");
	return { frames, ...times };
}

// The picture of addresses is zoomed by the wheel, and pulled.
async function addresses(page) {
	const asked = await go(page, "#memory");
	await page.locator(".space-bar").first().press("Enter");
	await page.evaluate(() => window.idle(true));
	const box = await page.locator(".zoom-picture").boundingBox();

	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	await page.evaluate(() => window.startFrames());
	for (let i = 0; i < FRAMES; i++)
		await page.mouse.wheel(0, i < FRAMES / 2 ? -100 : 100);
	const zoom = await page.evaluate(() => window.endFrames());
	for (let i = 0; i < 10; i++)
		await page.mouse.wheel(0, -100);
	await page.evaluate(() => window.startFrames());
	for (let i = 0; i < FRAMES; i++)
		await page.mouse.wheel(i % 20 < 10 ? 60 : -60, 0);
	const pan = await page.evaluate(() => window.endFrames());
	return { ...asked, zoom, pan };
}

// Places of the list of all allocations, from first to last: until its rows are
// there. Each was never in sight before.
async function rows(page) {
	const asked = await go(page, "#blocks");
	const places = [];
	let last = "";

	for (const place of PLACES)
		places.push(await page.evaluate((part) => window.timed(() => {
			const list = document.querySelector(".table");
			list.scrollTop = part * (list.scrollHeight -
						 list.clientHeight);
			return window.frame().then(window.frame);
		}), place));
	await page.evaluate(() => {
		const list = document.querySelector(".table");
		list.scrollTop = list.scrollHeight;
		return window.idle(true);
	});
	last = await page.evaluate(() => {
		const all = [...document.querySelectorAll(".t-row")];
		return all[all.length - 1].getAttribute("aria-rowindex");
	});
	return { ...asked, places, last: Number(last),
		 count: Number(await page.locator(".table").first()
			.getAttribute("aria-rowcount")) };
}

await run(async (job, browser) => {
	const { page, ...first } = await overview(browser, job.url,
						 job.rows);
	const result = { overview: first };

	if (job.views) {
		result.views = await views(page, job);
		result.brush = await brush(page);
	}
	if (job.addresses)
		result.addresses = await addresses(page);
	if (job.rows)
		result.rows = await rows(page);
	return result;
});
