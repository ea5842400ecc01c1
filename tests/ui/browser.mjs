// What tests that drive a browser share: Debian's Chromium without a window
// through playwright-core, which `make deps-test` put into the build folder
// (GNOMON_UI). It may talk to nobody: every request that leaves the file or
// this machine is refused and counted, and the tests want none.
//
// A script is started by tests/system/browser.py with one argument, JSON, and
// calls `run` with a function that gets that and a Browser; what it returns is
// printed as JSON.

import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.env.GNOMON_UI, "here.js"));
const { chromium } = require("playwright-core");

const STEP_MS = 300000;	// a machine may be busy

class Browser {
	constructor(chrome) {
		this.chrome = chrome;
		this.requests = [];	// to anywhere but the opened file
		this.errors = [];	// of scripts, and of the console
	}

	// A page of its own; `where`: a file, or a URL of this machine.
	async open(where, { width = 1200, height = 800, scheme = "light",
			    script = true } = {}) {
		const address = /^http:/.test(where) ? where :
			pathToFileURL(path.resolve(where)).href;
		const context = await this.chrome.newContext({
			viewport: { width, height }, colorScheme: scheme,
			javaScriptEnabled: script });
		const page = await context.newPage();
		page.setDefaultTimeout(STEP_MS);
		page.on("pageerror", (error) => this.errors.push(String(error)));
		page.on("console", (message) => message.type() === "error" &&
			this.errors.push(message.text()));
		await context.route("**", (route) => {
			const url = route.request().url();
			const own = address.startsWith("file:") ?
				url.split("#")[0] === address :
				new URL(url).origin === new URL(address).origin;
			if (own || /^(data|blob):/.test(url))
				return route.continue();
			this.requests.push(url);
			return route.abort();
		});
		await page.goto(address);
		return page;
	}
}

export async function run(body) {
	const chrome = await chromium.launch({
		executablePath: process.env.GNOMON_CHROMIUM,
		args: ["--no-sandbox", "--disable-gpu"] });
	const browser = new Browser(chrome);
	try {
		const said = await body(JSON.parse(process.argv[2]), browser);
		console.log(JSON.stringify({ ...said,
			requests: browser.requests, errors: browser.errors }));
	} finally {
		await chrome.close();
	}
}
