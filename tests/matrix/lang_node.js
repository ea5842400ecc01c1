// lang_node.js: promises, buffers, JSON, native callbacks, exceptions through
// native frames, stacks as text, workers that end or fail, code that gets hot
// enough to be compiled. Prints what was counted.
'use strict';

const { Worker, isMainThread, parentPort, workerData } =
	require('worker_threads');
const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');

const counts = {};
const count = (key, n = 1) => { counts[key] = (counts[key] || 0) + n; };

function deep(depth, action) {
	if (depth === 0)
		return action();
	const block = Buffer.allocUnsafeSlow(5000 + depth);
	switch (depth % 4) {
	case 0: return [1].map(() => deep(depth - 1, action))[0] + block.length % 2;
	case 1: return +'a'.replace('a', () => deep(depth - 1, action));
	case 2: return JSON.parse('[1]', (key, value) =>
		Array.isArray(value) ? deep(depth - 1, action) : value);
	default: return Reflect.apply(deep, null, [depth - 1, action]);
	}
}

function hot() {
	let sum = 0;
	for (let i = 0; i < 300000; i++)
		sum = (sum * 31 + (i ^ (sum >> 3))) | 0;
	return sum;
}

function exceptions() {
	for (let depth = 0; depth < 60; depth++) {
		try {
			deep(depth, () => { throw new RangeError('at ' + depth); });
		} catch (error) {
			count('caught');
			count('lines', error.stack.split('\n').length);
		}
	}
	try {
		const endless = (n) => endless(n + 1) + 1;
		endless(0);
	} catch (error) {
		count('overflow');
	}
	for (const wrong of [
		() => JSON.parse('{"a":'), () => new Array(-1), () => null.x,
		() => Buffer.alloc(10).readUInt32LE(8), () => decodeURI('%'),
		() => fs.readFileSync('/nowhere/at/all'),
		() => zlib.inflateSync(Buffer.from('no')),
	])
		try {
			wrong();
		} catch (error) {
			count('wrong');
			console.log(error.message);
		}
	Error.stackTraceLimit = 40;
	const where = deep(12, () => new Error('the stack').stack.length ? 1 : 0);
	count('where', where);
	console.log(new Error('here').stack);
}

async function promises() {
	const wait = (n) => new Promise((done, fail) => n % 5
		? setImmediate(() => deep(n % 9, () => (done(n), 1)))
		: fail(new Error('no ' + n)));
	const results = await Promise.allSettled(
		[...Array(80).keys()].map((n) => wait(n)));
	for (const result of results)
		count(result.status);
	for (let i = 0; i < 20; i++)
		await new Promise((done) => crypto.pbkdf2('a', 'b', 10, 32, 'sha256',
			(error, key) => { count('derived', key.length); done(); }));
	const packed = await new Promise((done) =>
		zlib.deflate(Buffer.alloc(300000, 'abc'), (_, data) => done(data)));
	count('unpacked', zlib.inflateSync(packed).length);
	return promises.name.length;
}

function json() {
	const tree = (n) => n ? { a: [tree(n - 1), tree(n - 1)], b: 'x'.repeat(n) }
		: 1;
	for (let i = 0; i < 5; i++)
		count('json', JSON.stringify(JSON.parse(JSON.stringify(tree(9)))).length);
	count('digest', crypto.createHash('sha1').update(JSON.stringify(tree(9)))
		.digest()[0]);
}

function workers() {
	return Promise.all([...Array(4).keys()].map((number) =>
		new Promise((done) => {
			const worker = new Worker(__filename, { workerData: number });
			worker.on('message', (value) => count('message', value));
			worker.on('error', (error) => count(error.message));
			worker.on('exit', () => { count('ended'); done(); });
		})));
}

async function main() {
	exceptions();
	json();
	count('name', await promises());
	await workers();
	console.log(hot());
	for (const key of Object.keys(counts).sort())
		console.log(key, counts[key]);
}

if (isMainThread) {
	main();
} else {
	const total = deep(30, () => workerData);
	parentPort.postMessage(total + hot() % 3);
	if (workerData === 2)
		deep(20, () => { throw new Error('worker_failed'); });
}
