/**
 * The stream of one watch on its way to the socket. Without a rule, chunks pass unchanged. With a rule, they
 * are split into lines, and the rule changes them.
 */

import type { RequestFaults, VersionRewrite } from './fault-answers.ts';
import type { ArmedRule, FaultEngine, StruckStream } from './fault-engine.ts';
import { changeLine, described, resourceVersionOf, typeOf } from './fault-lines.ts';
import type { LineMemory } from './fault-lines.ts';
import type { RequestFacts, StreamAction } from './fault-rules.ts';

/** The stream's connection to the socket. */
export interface RawStream {
  write(chunk: Buffer, written?: () => void): boolean;
  /** The response is complete. */
  end(): void;
  reset(): void;
  /** Stops the watch that feeds the stream. */
  detach(): void;
}

/** A rule that waits for its event. */
interface Bound {
  readonly armed: ArmedRule<StreamAction>;
  /** Number of events since the rule applies to this stream. */
  events: number;
  readonly memory: LineMemory;
}

const LINE_FEED = 0x0a;
const FILLING = Buffer.alloc(1024 * 1024, 'x');
/** Actions that need no event. */
const AT_ONCE: ReadonlySet<string> = new Set([
  'end',
  'error-event',
  'insert',
  'bookmark',
  'endless-line',
  'mute',
]);

export class FaultStream implements StruckStream {
  readonly facts: RequestFacts;
  readonly #engine: FaultEngine;
  readonly #raw: RawStream;
  readonly #versions: VersionRewrite | undefined;
  readonly #onDrain: () => void;
  #bound: Bound[] = [];
  #mute: ArmedRule<StreamAction> | undefined;
  /** The chunks that were written while the stream was mute. */
  #kept: Buffer[] = [];
  #isOver = false;
  #events = 0;
  #lastVersion = 0;

  constructor(faults: RequestFaults, raw: RawStream, onDrain: () => void) {
    this.facts = faults.facts;
    this.#engine = faults.engine;
    this.#versions = faults.versions;
    this.#raw = raw;
    this.#onDrain = onDrain;
  }

  /** Applies rules from now on. Rules that need no event strike at once. */
  open(): void {
    this.#engine.opened(this);
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
    if (this.#bound.length === 0 && !this.#versions) return this.#raw.write(chunk, written);
    const lines = this.#changed(chunk);
    written();
    return lines.length === 0 || this.#raw.write(Buffer.concat(lines));
  }

  closed(): void {
    this.#isOver = true;
    this.#engine.closed(this);
  }

  arm(armed: ArmedRule<StreamAction>): void {
    const { action } = armed.rule;
    const bound: Bound = { armed, events: 0, memory: { byKey: new Map(), held: undefined } };
    this.#bound.push(bound);
    if (AT_ONCE.has(action.type) && armed.rule.match?.afterEvents === undefined) this.#strikeNow(bound);
  }

  healed(): void {
    this.#bound = this.#bound.filter(({ armed }) => !armed.isHealed);
    const wasMute = this.#mute?.isHealed === true;
    if (wasMute) this.#mute = undefined;
    if (wasMute && !this.#isOver) for (const chunk of this.#kept) this.#raw.write(chunk);
    if (wasMute) this.#kept = [];
    // A replica that has caught up has more to send.
    this.#onDrain();
  }

  #changed(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    for (let start = 0; start < chunk.length && !this.#isOver;) {
      const lineFeed = chunk.indexOf(LINE_FEED, start);
      const end = lineFeed < 0 ? chunk.length : lineFeed + 1;
      this.#line(Buffer.from(chunk.subarray(start, end)), out);
      start = end;
    }
    return this.#versions ? out.map((line) => this.#versions?.rewrite(line) ?? line) : out;
  }

  #line(line: Buffer, out: Buffer[]): void {
    let lines = [line];
    for (const bound of this.#bound) {
      const { armed } = bound;
      if (armed.left <= 0) continue;
      const isDue = bound.events >= (armed.rule.match?.afterEvents ?? 0);
      if (typeOf(line) !== 'BOOKMARK') bound.events++;
      if (!isDue) continue;
      if (AT_ONCE.has(armed.rule.action.type) || armed.rule.action.type === 'cut') {
        this.#strike(bound, out, line);
        if (this.#isOver) return;
        if (this.#mute) {
          this.#kept.push(line);
          return;
        }
        continue;
      }
      const changed = changeLine(armed.rule.action, line, bound.memory);
      if (!changed) continue;
      if (changed.isLanded) this.#land(bound, line);
      lines = changed.lines;
    }
    out.push(...lines);
    this.#events++;
    this.#lastVersion = resourceVersionOf(line) || this.#lastVersion;
  }

  #strikeNow(bound: Bound): void {
    if (this.#isOver) return;
    const out: Buffer[] = [];
    this.#strike(bound, out, undefined);
    if (out.length > 0 && !this.#raw.write(Buffer.concat(out))) return;
  }

  /** Performs an action that needs no event, or that replaces the next one. */
  #strike(bound: Bound, out: Buffer[], line: Buffer | undefined): void {
    const { action } = bound.armed.rule;
    this.#land(bound, line);
    switch (action.type) {
      case 'end':
        this.#finish(out, () => this.#raw.end());
        break;
      case 'error-event':
        out.push(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: action.status })}\n`));
        this.#finish(out, () => this.#raw.end());
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
    const at = bytes ?? 1 + Math.floor(this.#engine.random() * (line.length - 2));
    out.push(line.subarray(0, at));
    this.#finish(out, () => (how === 'end' ? this.#raw.end() : this.#raw.reset()));
  }

  /** Sends `out` as the last bytes of the stream. */
  #finish(out: Buffer[], how: () => void): void {
    this.#isOver = true;
    this.#raw.detach();
    const last = Buffer.concat(out.splice(0));
    // A reset would overtake bytes that the socket has not sent.
    if (last.length > 0) this.#raw.write(last, how);
    else how();
  }

  #endless(out: Buffer[], megabytes: number): void {
    this.#isOver = true;
    this.#raw.detach();
    this.#raw.write(Buffer.concat(out.splice(0)));
    let left = megabytes;
    const more = (): void => {
      if (left-- > 0) this.#raw.write(FILLING, more);
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
    this.#engine.land(bound.armed, this.facts, { events: this.#events, ...event });
  }
}
