/**
 * The stream of a watch on the way to the socket. Without a rule, chunks pass unchanged. With a rule, they are split
 * into lines, and the rule changes the lines.
 */

import type { ServerResponse } from 'node:http';
import type { RequestFaults } from './fault-answers.ts';
import { isAtOnce } from './fault-rules.ts';
import type { ArmedRule, RequestFacts, StreamAction, StruckStream } from './fault-rules.ts';
import type { Listener } from '../wire/listener.ts';
import type { Call } from '../wire/request-info.ts';

/** The watch that feeds a stream. */
interface Feed {
  /** Called when the client caught up after a write that returned false. */
  drained(): void;
  /** Stops writing. */
  detach(): void;
}

/** A rule that waits for an event. */
interface Bound {
  readonly armed: ArmedRule<StreamAction>;
  /** Number of events since the rule began to apply to this stream. */
  events: number;
  /** The first line of each key. */
  readonly byKey: Map<string, Buffer>;
  /** The line that waits for the next event of another object. */
  held: Buffer | undefined;
}

const LINE_FEED = 0x0a;
const FILLING = Buffer.alloc(1024 * 1024, 'x');
const OBJECT = Buffer.from('"object":{');

export class FaultStream implements StruckStream {
  readonly facts: RequestFacts;
  readonly #faults: RequestFaults;
  readonly #response: ServerResponse;
  readonly #listener: Listener;
  #feed: Feed | undefined;
  #bound: Bound[] = [];
  #mute: ArmedRule<StreamAction> | undefined;
  /** The chunks written while the stream was mute. */
  #kept: Buffer[] = [];
  #isOver = false;
  #events = 0;
  #lastVersion = 0;

  constructor({ faults, response }: Call, listener: Listener) {
    this.facts = faults.facts;
    this.#faults = faults;
    this.#response = response;
    this.#listener = listener;
  }

  /** Applies rules from now on. Rules that need no event strike at once. */
  open(feed: Feed): void {
    this.#feed = feed;
    this.#response.on('drain', () => feed.drained());
    this.#faults.engine.opened(this);
  }

  /** Writes a chunk like the response's own method; also returns false while the stream is mute. */
  write(chunk: Buffer, written: () => void): boolean {
    if (this.#isOver) {
      written();
      return true;
    }
    if (this.#mute) {
      this.#kept.push(Buffer.from(chunk));
      written();
      return false;
    }
    if (this.#bound.length === 0 && !this.#faults.versions) return this.#response.write(chunk, written);
    const lines = this.#changed(chunk);
    written();
    return lines.length === 0 || this.#response.write(Buffer.concat(lines));
  }

  /** The response is complete. */
  end(): void {
    this.#response.end();
  }

  closed(): void {
    this.#isOver = true;
    this.#faults.engine.closed(this);
  }

  arm(armed: ArmedRule<StreamAction>): void {
    const { action } = armed.rule;
    const bound: Bound = { armed, events: 0, byKey: new Map(), held: undefined };
    this.#bound.push(bound);
    if (this.#isOver || !isAtOnce(action) || armed.rule.match?.afterEvents !== undefined) return;
    const out: Buffer[] = [];
    this.#strike(bound, out, undefined);
    if (out.length > 0) this.#response.write(Buffer.concat(out));
  }

  healed(): void {
    this.#bound = this.#bound.filter(({ armed }) => !armed.isHealed);
    if (this.#mute?.isHealed) {
      this.#mute = undefined;
      if (!this.#isOver) for (const chunk of this.#kept) this.#response.write(chunk);
      this.#kept = [];
    }
    // A replica that caught up may send more.
    this.#feed?.drained();
  }

  #changed(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    for (let start = 0; start < chunk.length && !this.#isOver;) {
      const lineFeed = chunk.indexOf(LINE_FEED, start);
      const end = lineFeed < 0 ? chunk.length : lineFeed + 1;
      this.#line(Buffer.from(chunk.subarray(start, end)), out);
      start = end;
    }
    const { versions } = this.#faults;
    return versions ? out.map((line) => versions.rewrite(line)) : out;
  }

  #line(line: Buffer, out: Buffer[]): void {
    let lines = [line];
    for (const bound of this.#bound) {
      const { armed } = bound;
      if (armed.left <= 0) continue;
      const isDue = bound.events >= (armed.rule.match?.afterEvents ?? 0);
      if (typeOf(line) !== 'BOOKMARK') bound.events++;
      if (!isDue) continue;
      if (isAtOnce(armed.rule.action) || armed.rule.action.type === 'cut') {
        this.#strike(bound, out, line);
        if (this.#isOver) return;
        if (this.#mute) {
          this.#kept.push(line);
          return;
        }
        continue;
      }
      const changed = changeLine(armed.rule.action, line, bound);
      if (!changed) continue;
      if (changed.isLanded) this.#land(bound, line);
      lines = changed.lines;
    }
    out.push(...lines);
    this.#events++;
    this.#lastVersion = resourceVersionOf(line) || this.#lastVersion;
  }

  /** Performs an action that needs no event, or that replaces the next event. */
  #strike(bound: Bound, out: Buffer[], line: Buffer | undefined): void {
    const { action } = bound.armed.rule;
    this.#land(bound, line);
    switch (action.type) {
      case 'end':
        this.#finish(out, () => this.end());
        break;
      case 'error-event':
        out.push(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: action.status })}\n`));
        this.#finish(out, () => this.end());
        break;
      case 'insert':
        for (const text of action.lines) out.push(Buffer.from(text, action.isBase64 ? 'base64' : 'utf8'));
        break;
      case 'bookmark':
        out.push(this.#bookmark(action.offset, action.metadata));
        break;
      case 'cut':
        this.#cut(action, out, line ?? Buffer.alloc(0));
        break;
      case 'endless-line':
        this.#endless(out, action.megabytes);
        break;
      default:
        this.#mute = bound.armed;
    }
  }

  #cut({ bytes, how }: Extract<StreamAction, { type: 'cut' }>, out: Buffer[], line: Buffer): void {
    const at = bytes ?? 1 + Math.floor(this.#faults.engine.random() * (line.length - 2));
    out.push(line.subarray(0, at));
    this.#finish(out, () => (how === 'end' ? this.end() : this.#listener.reset(this.#response.socket)));
  }

  /** Sends `out` as the last bytes of the stream. */
  #finish(out: Buffer[], how: () => void): void {
    this.#isOver = true;
    this.#feed?.detach();
    const last = Buffer.concat(out.splice(0));
    // A reset would overtake bytes that are still in the socket.
    if (last.length > 0) this.#response.write(last, how);
    else how();
  }

  #endless(out: Buffer[], megabytes: number): void {
    this.#isOver = true;
    this.#feed?.detach();
    this.#response.write(Buffer.concat(out.splice(0)));
    let left = megabytes;
    const more = (): void => {
      if (left-- > 0) this.#response.write(FILLING, more);
    };
    more();
  }

  #bookmark(offset: number, metadata: object | null | undefined): Buffer {
    const resourceVersion = String(Math.max(1, this.#lastVersion + offset));
    const given = metadata === undefined ? { resourceVersion } : metadata;
    const object = { kind: 'Pod', apiVersion: 'v1', ...(given === null ? {} : { metadata: given }) };
    return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  #land(bound: Bound, line: Buffer | undefined): void {
    bound.armed.left--;
    const event = line === undefined ? {} : { event: described(line), bytes: line.length };
    this.#faults.engine.land(bound.armed, this.facts, { events: this.#events, ...event });
  }
}

interface ChangedLine {
  readonly lines: Buffer[];
  /** True if the fault changed this line; false if the rule only prepares for it. */
  readonly isLanded: boolean;
}

function typeOf(line: Buffer): string {
  return /^\{"type":"([A-Z]+)"/.exec(line.toString('latin1', 0, 32))?.[1] ?? '';
}

function resourceVersionOf(line: Buffer): number {
  return Number(/"resourceVersion":"(\d+)"/.exec(line.toString('latin1'))?.[1] ?? 0);
}

/** Returns a short text for a line: `MODIFIED default/a@5`. */
function described(line: Buffer): string {
  return `${typeOf(line)} ${keyOf(line)}@${resourceVersionOf(line)}`;
}

/** @returns undefined if the action does not affect this line */
function changeLine(action: StreamAction, line: Buffer, bound: Bound): ChangedLine | undefined {
  const type = typeOf(line);
  switch (action.type) {
    case 'duplicate':
      return type === 'BOOKMARK' ? undefined : { lines: [line, line], isLanded: true };
    case 'drop':
      return type === action.of ? { lines: [], isLanded: true } : undefined;
    case 'older':
      return older(line, bound);
    case 'swap':
      return swapped(line, type, bound);
    case 'retype':
      if (type !== action.from) return undefined;
      return { lines: [retyped(line, type, action.to)], isLanded: true };
    case 'graft':
      if (type !== 'ADDED' && type !== 'MODIFIED') return undefined;
      return { lines: [grafted(line, action)], isLanded: true };
    default:
      return undefined;
  }
}

function older(line: Buffer, bound: Bound): ChangedLine {
  const key = keyOf(line);
  const before = bound.byKey.get(key);
  if (before === undefined) {
    bound.byKey.set(key, line);
    return { lines: [line], isLanded: false };
  }
  return { lines: [line, before], isLanded: true };
}

/** Deletions and additions stay in their places, because swapping them with others would change their meaning. */
function swapped(line: Buffer, type: string, bound: Bound): ChangedLine | undefined {
  const { held } = bound;
  if (held === undefined) {
    if (type !== 'MODIFIED') return undefined;
    bound.held = line;
    return { lines: [], isLanded: false };
  }
  bound.held = undefined;
  if (keyOf(held) === keyOf(line)) return { lines: [held, line], isLanded: false };
  return { lines: [line, held], isLanded: true };
}

function keyOf(line: Buffer): string {
  const text = line.toString('utf8');
  const name = /"name":"([^"]*)"/.exec(text)?.[1] ?? '';
  const namespace = /"namespace":"([^"]*)"/.exec(text)?.[1] ?? '';
  return `${namespace}/${name}`;
}

function retyped(line: Buffer, from: string, to: string): Buffer {
  const head = `{"type":"`;
  return Buffer.concat([Buffer.from(head + to), line.subarray(head.length + from.length)]);
}

/** Adds the member at the end of the object, because readers of keys read only as far as metadata. */
function grafted(line: Buffer, { name, value }: Extract<StreamAction, { type: 'graft' }>): Buffer {
  const end = line.lastIndexOf('}}');
  const isEmpty = line.indexOf(OBJECT) + OBJECT.length === end;
  const member = Buffer.from(`${isEmpty ? '' : ','}${JSON.stringify(name)}:`);
  return Buffer.concat([line.subarray(0, end), member, Buffer.from(value, 'base64'), line.subarray(end)]);
}
