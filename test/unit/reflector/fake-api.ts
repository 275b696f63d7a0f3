/**
 * The smallest apiserver that an informer can be tested with: one collection, its history, lists in pages,
 * watches and streaming lists, and every kind of failure. It answers through fake exchanges.
 */
import assert from 'node:assert/strict';
import type { FakeExchange } from './fake-transport.ts';
import type { Change } from './history-check.ts';
import { END, bookmark, errorEvent, event, list, pod } from './harness.ts';

interface Watcher {
  readonly exchange: FakeExchange;
  /** The last change that was sent. */
  position: number;
}

export type Fault =
  | { readonly kind: 'refuse' }
  | { readonly kind: 'answer'; readonly status: number; readonly reason: string }
  /** The body is cut off after this number of bytes, if it is that long. */
  | { readonly kind: 'cut'; readonly afterBytes: number };

export interface FakeApiOptions {
  readonly streamingLists: boolean;
  /** Cuts a body into chunks. */
  readonly chunks: (body: Buffer) => Buffer[];
  readonly padding: () => number;
}

export class FakeApi {
  readonly history: Change[] = [];
  /** The faults of the next requests, one each. */
  readonly faults: Fault[] = [];
  readonly #objects = new Map<string, object>();
  readonly #changed = new Map<string, string>();
  readonly #watchers: Watcher[] = [];
  readonly #options: FakeApiOptions;
  #revision = 100;
  /** Versions before this one are gone. */
  #compacted = 0;
  /** The unfinished paged lists: the snapshot behind each token. */
  readonly #snapshots = new Map<string, { readonly version: string; readonly items: object[] }>();

  constructor(options: FakeApiOptions) {
    this.#options = options;
  }

  get resourceVersion(): string {
    return String(this.#revision);
  }

  /** Returns `name@resourceVersion` of every object, sorted. */
  objects(): string[] {
    return [...this.#changed].map(([name, version]) => `${name}@${version}`).sort();
  }

  change(type: 'write' | 'delete', name: string): void {
    const exists = this.#objects.has(name);
    if (type === 'delete' && !exists) return;
    const resourceVersion = String(++this.#revision);
    const verb = type === 'delete' ? 'DELETED' : exists ? 'MODIFIED' : 'ADDED';
    const object = pod(name, resourceVersion, this.#options.padding());
    this.history.push({ type: verb, name, resourceVersion: this.#revision });
    if (type === 'delete') {
      this.#objects.delete(name);
      this.#changed.delete(name);
    } else {
      this.#objects.set(name, object);
      this.#changed.set(name, resourceVersion);
    }
  }

  /** Sends every watcher the changes that it has not received. */
  pump(): void {
    for (const watcher of this.#watchers) {
      const pending = this.history.filter(({ resourceVersion }) => resourceVersion > watcher.position);
      watcher.position = this.#revision;
      if (pending.length === 0 || !watcher.exchange.isOpen) continue;
      const lines = pending.map(({ type, name, resourceVersion }) =>
        event(type, name, String(resourceVersion), this.#options.padding()),
      );
      this.#send(watcher.exchange, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    }
  }

  /** Sends a bookmark to every watcher that is up to date. */
  bookmark(): void {
    this.pump();
    for (const { exchange } of this.#watchers) {
      if (exchange.isOpen) exchange.sendEvents(bookmark(this.resourceVersion));
    }
  }

  compact(): void {
    this.#compacted = this.#revision;
    this.#snapshots.clear();
  }

  /** Calls `how` with every open watch. */
  disturb(how: (exchange: FakeExchange) => void): void {
    for (const { exchange } of this.#watchers.splice(0)) if (exchange.isOpen) how(exchange);
  }

  /** Sends a torn line and breaks the connection. */
  tear(exchange: FakeExchange, bytes: number): void {
    const line = JSON.stringify(event('MODIFIED', 'torn', String(this.#revision + 1), 200));
    exchange.send(line.slice(0, bytes)).reset();
  }

  handle(exchange: FakeExchange): void {
    const fault = this.faults.shift();
    if (fault?.kind === 'refuse') exchange.refuse();
    else if (fault?.kind === 'answer') exchange.fail(fault.status, fault.reason);
    else if (exchange.query['sendInitialEvents'] === 'true') this.#stream(exchange, fault);
    else if (exchange.isWatch) this.#watch(exchange);
    else this.#list(exchange, fault);
  }

  #watch(exchange: FakeExchange): void {
    const from = Number(exchange.query['resourceVersion']);
    if (from < this.#compacted) {
      // Both forms of the same failure.
      if (from % 2 === 0) exchange.fail(410, 'Expired');
      else exchange.head().sendEvents(errorEvent(410, 'Expired')).end();
      return;
    }
    exchange.head();
    this.#watchers.push({ exchange, position: from });
  }

  #stream(exchange: FakeExchange, fault: Fault | undefined): void {
    if (!this.#options.streamingLists) {
      exchange.fail(422, 'Invalid');
      return;
    }
    const lines = [...this.#objects.values()].map((object) => ({
      type: 'ADDED',
      object: { kind: 'Pod', apiVersion: 'v1', ...object },
    }));
    lines.push(bookmark(this.resourceVersion, END) as (typeof lines)[number]);
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    exchange.head();
    if (fault?.kind === 'cut') {
      this.#send(exchange, body.slice(0, fault.afterBytes));
      exchange.reset();
      return;
    }
    this.#send(exchange, body);
    this.#watchers.push({ exchange, position: this.#revision });
  }

  #list(exchange: FakeExchange, fault: Fault | undefined): void {
    const { resourceVersion = '', continue: token } = exchange.query;
    assert.ok(Number(resourceVersion) <= this.#revision, 'a list from the future');
    const snapshot = token
      ? this.#snapshots.get(token)
      : { version: this.resourceVersion, items: [...this.#objects.values()] };
    if (!snapshot) {
      exchange.fail(410, 'Expired');
      return;
    }
    const limit = Number(exchange.query['limit'] ?? Infinity);
    const rest = snapshot.items.slice(limit);
    const next =
      rest.length > 0 ? `token-${this.#snapshots.size}-${snapshot.version}-${rest.length}` : undefined;
    if (next) this.#snapshots.set(next, { version: snapshot.version, items: rest });
    const body = list(snapshot.version, snapshot.items.slice(0, limit), next);
    exchange.head();
    if (fault?.kind === 'cut') {
      this.#send(exchange, body.slice(0, fault.afterBytes));
      exchange.reset();
      return;
    }
    this.#send(exchange, body);
    exchange.end();
  }

  #send(exchange: FakeExchange, body: string): void {
    for (const chunk of this.#options.chunks(Buffer.from(body))) exchange.send(chunk);
  }
}
