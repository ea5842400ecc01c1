/*
 * Calls of the server. Each has a slot, which is also the ticket that the server
 * knows it by: a newer call in a slot ends the older one, on both sides, and
 * whoever waits for the older one gets `Stale`. An answer is kept with its ETag:
 * if it has not changed, the server says so, and nothing is read again.
 */
import { Pair } from "./address";

export interface Call {
	path: string;		/* below /api/v1/ */
	params: Pair[];
	body?: string;
	isText?: boolean;	/* what comes is no JSON */
}

export interface Answer {
	value: unknown;
	messages: string[];	/* what the command said besides */
}

/* A newer call came: the answer is wanted by nobody. */
export class Stale extends Error {}

/* The server ended it, by its ticket. */
class Ended extends Error {}

/* It was asked what it cannot answer: it would say the same again. */
export class Wrong extends Error {}

/* The server is not there, or does not answer as it should. */
export class Gone extends Error {}

const KEPT_BYTES = 64 << 20;
const TRIES = 4;
const WRONG = 400, ENDED = 409;	/* a status */
const PAGE = Math.random().toString(36).slice(2, 8);
const BASE = new URL("api/v1/", location.href.split("#")[0]).href;

interface Kept extends Answer {
	etag: string;
	bytes: number;
}

const kept = new Map<string, Kept>();
/* Calls without an answer yet: another slot that makes the same call waits. */
const pending = new Map<string, Promise<Answer>>();
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

/* One value, or, as of several statements, one after the other. */
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

function said(response: Response): string[] {
	try {
		return JSON.parse(response.headers.get("Gnomon-Messages") ??
			"[]") as string[];
	} catch {
		return [];
	}
}

async function refused(response: Response): Promise<Error> {
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
		throw await refused(response);
	const text = await response.text();
	const etag = response.headers.get("ETag");
	const value = call.isText ? text : parse(text);
	const answer = { value, messages: said(response) };
	if (etag)
		keep(key, { ...answer, etag, bytes: 2 * text.length });
	return answer;
}

/* Connections overtake each other: an older call of the slot, which was given up
 * here, may come to the server last, and end the newer one. */
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

/* Takes the answer of another slot's equal call, unless that call is given up. */
async function shared(slot: string, call: Call, signal: AbortSignal):
		Promise<Answer> {
	const key = url(call) + (call.body ?? "");
	const other = pending.get(key);

	if (other)
		try {
			return await other;
		} catch (error) {
			if (error instanceof Wrong || signal.aborted)
				throw error;
		}
	const made = readInTurn(call, `${PAGE}-${slot}`, signal);
	pending.set(key, made);
	try {
		return await made;
	} finally {
		if (pending.get(key) === made)
			pending.delete(key);
	}
}

/* Throws Stale, Gone, or an Error that says what the server refused. */
export async function ask(slot: string, call: Call): Promise<Answer> {
	const mine = new AbortController();

	running.get(slot)?.abort();
	running.set(slot, mine);
	try {
		const answer = await shared(slot, call, mine.signal);
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

/* How far a call has come. */
export interface Progress {
	ticket: string | null;
	what: string;
	done: number;
	of: number;		/* 0: nobody knows */
}

const watching = new Map<string, (how: Progress) => void>();

/* Hears of what runs in a slot. */
export function watch(slot: string, tell: (how: Progress) => void): void {
	watching.set(slot, tell);
}

/* What the server says of any call, of this page or another. */
export function progress(how: Progress): void {
	if (how.ticket?.startsWith(`${PAGE}-`))
		watching.get(how.ticket.slice(PAGE.length + 1))?.(how);
}

/* Ends what runs in a slot. */
export function drop(slot: string): void {
	running.get(slot)?.abort();
	running.delete(slot);
}
