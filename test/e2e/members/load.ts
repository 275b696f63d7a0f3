/** Changes of ConfigMaps at a rate, each confirmed by the server: updates, and objects that are made and deleted again. */
import { setTimeout } from 'node:timers/promises';
import { ObjectClient } from '../../../src/controller/index.ts';
import { withCode } from '../../../src/base/errors.ts';
import { resources } from '../../../src/index.ts';
import type { KubeObject, ServerSource } from '../../../src/index.ts';
import { FINALIZER, nowMs } from './history.ts';
import type { Line } from './history.ts';

const { configMaps } = resources.core.v1;
const NAMESPACE = 'default';
const OBJECTS = 400;
/** Coprime to the number of objects: successive changes are of different objects. */
const STRIDE = 7;
const PADDING = { text: 'x'.repeat(200) };
const TICK_MS = 20;
/** Requests in progress: a server that is slower than the rate gets fewer changes. */
const REQUESTS_MAX = 32;
/** One change in so many is of an object that is soon deleted, every second of which has a finalizer. */
const SHORT_LIVED_EVERY = 10;
/** Such an object is deleted when so many more of them have been made. */
const SHORT_LIVED = 20;
/** Names of such objects, which come again. */
const SHORT_LIVED_NAMES = 60;

export class Load {
  /** Confirmed writes, as lines of the history. */
  readonly lines: Line[] = [];
  readonly #client: ObjectClient;
  readonly #ratePerSecond: number;
  readonly #pending: Set<Promise<void>> = new Set();
  /** Names of objects that the server has confirmed, and that are deleted soon. */
  readonly #shortLived: string[] = [];
  /** Uids of the objects that were made last under their names. */
  readonly #uids: Map<string, string> = new Map();
  #changes = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: ServerSource, ratePerSecond: number) {
    this.#client = new ObjectClient(source);
    this.#ratePerSecond = ratePerSecond;
  }

  /** Makes the objects. */
  async fill(): Promise<void> {
    for (let index = 0; index < OBJECTS; index++) await this.#send(this.#create(`kept-${index}`, []));
    await this.#end();
  }

  /**
   * Changes objects until the signal is aborted.
   *
   * @throws then the error of the first write that failed
   */
  async run(signal: AbortSignal): Promise<void> {
    const startMs = nowMs();
    const before = this.#changes;
    while (!signal.aborted) {
      const due = before + ((nowMs() - startMs) / 1000) * this.#ratePerSecond;
      while (this.#changes < due && !signal.aborted && !this.#failure)
        await this.#send(this.#change(this.#changes++));
      await setTimeout(TICK_MS);
    }
    await this.#end();
  }

  /** Changes one object beside the history: caches that wait for an event of the kind have one. */
  async touch(): Promise<void> {
    await this.#client.patch(configMaps, `${NAMESPACE}/kept-0`, { data: { touched: String(nowMs()) } });
  }

  /** Returns the keys of deleted objects that the server still has: no member has removed their finalizer. */
  async held(): Promise<string[]> {
    const deleted = this.lines.flatMap((line) => (line.kind === 'deleted' && line.version ? [line.key] : []));
    const held: string[] = [];
    for (const key of deleted) if (await this.#exists(key)) held.push(key);
    return held;
  }

  async #exists(key: string): Promise<boolean> {
    const [text = '', uid] = key.split('#');
    try {
      return (await this.#client.get(configMaps, text)).metadata?.uid === uid;
    } catch (error) {
      if (withCode(error).code === 'ERR_KUBELOOM_NOT_FOUND') return false;
      throw error;
    }
  }

  async #change(change: number): Promise<void> {
    if (change % SHORT_LIVED_EVERY > 0) return this.#update(`kept-${(change * STRIDE) % OBJECTS}`, change);
    const number = change / SHORT_LIVED_EVERY;
    const name = `short-${number % SHORT_LIVED_NAMES}`;
    try {
      await this.#create(name, number % 2 === 0 ? [] : [FINALIZER]);
    } catch (error) {
      // A finalizer still holds its predecessor.
      if (withCode(error).code === 'ERR_KUBELOOM_ALREADY_EXISTS') return;
      throw error;
    }
    this.#shortLived.push(name);
    if (this.#shortLived.length > SHORT_LIVED) await this.#delete(String(this.#shortLived.shift()));
  }

  async #create(name: string, finalizers: string[]): Promise<void> {
    this.#wrote(
      await this.#client.create(configMaps, { metadata: { name, namespace: NAMESPACE, finalizers } }),
    );
  }

  async #update(name: string, change: number): Promise<void> {
    const patch = { data: { change: String(change), ...PADDING } };
    this.#wrote(await this.#client.patch(configMaps, { namespace: NAMESPACE, name }, patch));
  }

  async #delete(name: string): Promise<void> {
    const key = keyOf(name, this.#uids.get(name));
    let held: string | undefined;
    const client = this.#client.observed((_, answer) => (held = answer.metadata?.resourceVersion));
    await client.delete(configMaps, { namespace: NAMESPACE, name });
    this.lines.push({ kind: 'deleted', atMs: nowMs(), key, ...(held ? { version: Number(held) } : {}) });
  }

  #wrote({ metadata }: KubeObject): void {
    const { name = '', resourceVersion, uid } = metadata ?? {};
    if (uid !== undefined) this.#uids.set(name, uid);
    const key = keyOf(name, uid);
    this.lines.push({ kind: 'wrote', atMs: nowMs(), key, version: Number(resourceVersion) });
  }

  async #send(change: Promise<void>): Promise<void> {
    const pending = change
      .catch((error: unknown) => void (this.#failure ??= { error }))
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    if (this.#pending.size >= REQUESTS_MAX) await Promise.race(this.#pending);
  }

  async #end(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure) throw this.#failure.error;
  }
}

/** Returns the key of an object in a history: an object that is made again under a name is another one. */
function keyOf(name: string, uid: string | undefined): string {
  return `${NAMESPACE}/${name}#${uid}`;
}
