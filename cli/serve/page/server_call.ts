/*
 * Calls to the server. Each call has a slot, which is also its ticket on the
 * server: a newer call in a slot cancels the older one, on both sides, and the
 * older one throws `Stale`. Answers are cached with their ETags: unchanged ones
 * are not sent again.
 */
import { Pair } from "./address";

export interface Call {
	path: string;		/* relative to /api/v1/ */
	params: Pair[];
	body?: string;
	isText?: boolean;	/* the answer is not JSON */
}

export interface Answer {
	value: unknown;
	messages: string[];	/* messages of the command */
}

/* A newer call replaced this one. */
export class Stale extends Error {}

/* The server cancelled the call by its ticket. */
class Ended extends Error {}

/* The call is invalid: a repetition would fail again. */
export class Wrong extends Error {}

/* The server is unreachable or gives no valid answer. */
export class Gone extends Error {}

const KEPT_BYTES = 64 << 20;
const TRIES = 4;
const WRONG = 400, ENDED = 409;	/* HTTP status */
const PAGE = Math.random().toString(36).slice(2, 8);
const BASE = new URL("api/v1/", location.href.split("#")[0]).href;

interface Kept extends Answer {
	etag: string;
	bytes: number;
}

/* A call without an answer yet, and other slots that wait for the same. */
interface Pending {
	slot: string;
	answer: Promise<Answer>;
	shared: Set<string>;
}

const kept = new Map<string, Kept>();
const pending = new Map<string, Pending>();
const running = new Map<string, AbortController>();
let keptBytes = 0;

export function query(params: Pair[]): string {
	const text = new URLSearchParams(params).toString();

	return text && "?" + text;
}

export function url(call: Call): string {
	return BASE + call.path + query(call.params);
}

export function sameCall(a: Call | undefined, b: Call): boolean {
	return a !== undefined && url(a) === url(b) && a.body === b.body;
}

function keep(key: string, answer: Kept): void {
	const before = kept.get(key);

	keptBytes += answer.bytes - (before?.bytes ?? 0);
	kept.delete(key);
	kept.set(key, answer);
	for (const [old, { bytes }] of kept) {
		if (keptBytes <= KEPT_BYTES || old === key)
			break;
		kept.delete(old);
		keptBytes -= bytes;
	}
}

/* Parses one JSON value, or several, one for each statement. */
export function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		const parts = text.split(/^(?=\{)/m).filter((one) =>
			one.trim() !== "");

		if (parts.length < 2)
			throw error;
		return parts.map((one) => JSON.parse(one) as unknown);
	}
}

function messagesOf(response: Response): string[] {
	try {
		return JSON.parse(response.headers.get("Gnomon-Messages") ??
			"[]") as string[];
	} catch {
		return [];
	}
}

async function errorOf(response: Response): Promise<Error> {
	const text = await response.text();
	const Kind = response.status === ENDED ? Ended :
		response.status === WRONG ? Wrong : Error;

	try {
		const { error } = JSON.parse(text) as { error?: string };
		return new Kind(error ?? `status ${response.status}`);
	} catch {
		return new Kind(text.trim() || `status ${response.status}`);
	}
}

async function read(call: Call, ticket: string, signal: AbortSignal):
		Promise<Answer> {
	const key = url(call) + (call.body ?? "");
	const known = kept.get(key);
	const headers: Record<string, string> = {};

	if (known)
		headers["If-None-Match"] = known.etag;
	if (call.body !== undefined)
		headers["Content-Type"] = "application/sql";
	const response = await fetch(url({ ...call,
		params: [...call.params, ["ticket", ticket]] }), {
		method: call.body === undefined ? "GET" : "POST",
		body: call.body, headers, signal, cache: "no-store",
		credentials: "same-origin" });
	if (response.status === 304 && known)
		return known;
	if (!response.ok)
		throw await errorOf(response);
	const text = await response.text();
	const etag = response.headers.get("ETag");
	const value = call.isText ? text : parse(text);
	const answer = { value, messages: messagesOf(response) };
	if (etag)
		keep(key, { ...answer, etag, bytes: 2 * text.length });
	return answer;
}

/* Connections may overtake each other: a cancelled older call of the slot may
 * reach the server last, and cancel the newer one. */
async function readInTurn(call: Call, ticket: string, signal: AbortSignal):
		Promise<Answer> {
	for (let left = TRIES; ; left--)
		try {
			return await read(call, ticket, signal);
		} catch (error) {
			if (!(error instanceof Ended) || signal.aborted ||
			    left === 1)
				throw error;
		}
}

/* Shares the answer of another slot's equal call, unless that call is
 * cancelled. */
async function shareAnswer(slot: string, call: Call, signal: AbortSignal):
		Promise<Answer> {
	const key = url(call) + (call.body ?? "");
	const other = pending.get(key);

	if (other) {
		other.shared.add(slot);
		try {
			return await other.answer;
		} catch (error) {
			if (error instanceof Wrong || signal.aborted)
				throw error;
		} finally {
			other.shared.delete(slot);
		}
	}
	const made: Pending = { slot, shared: new Set(),
		answer: readInTurn(call, `${PAGE}-${slot}`, signal) };
	pending.set(key, made);
	try {
		return await made.answer;
	} finally {
		if (pending.get(key) === made)
			pending.delete(key);
	}
}

/* Throws Stale, Gone, or an Error with the server's message. */
export async function ask(slot: string, call: Call): Promise<Answer> {
	const mine = new AbortController();

	running.get(slot)?.abort();
	running.set(slot, mine);
	try {
		const answer = await shareAnswer(slot, call, mine.signal);
		if (mine.signal.aborted)
			throw new Stale();
		return answer;
	} catch (error) {
		if (mine.signal.aborted)
			throw new Stale();
		if (error instanceof TypeError)
			throw new Gone("the server does not answer");
		throw error;
	} finally {
		if (running.get(slot) === mine)
			running.delete(slot);
	}
}

/* The progress of a call. */
export interface Progress {
	ticket: string | null;
	what: string;
	done: number;
	of: number;		/* 0: unknown */
}

const watching = new Map<string, (how: Progress) => void>();

/* Calls `tell` with the progress of calls in a slot. */
export function watch(slot: string, tell: (how: Progress) => void): void {
	watching.set(slot, tell);
}

/* The progress of any call, of this page or another. */
export function progress(how: Progress): void {
	if (!how.ticket?.startsWith(`${PAGE}-`))
		return;
	const slot = how.ticket.slice(PAGE.length + 1);
	const others = [...pending.values()].filter((one) => one.slot === slot)
		.flatMap(({ shared }) => [...shared]);

	for (const one of [slot, ...others])
		watching.get(one)?.(how);
}

/* Cancels the call in a slot. */
export function drop(slot: string): void {
	running.get(slot)?.abort();
	running.delete(slot);
}
