/**
 * The writes of a soak: objects of three kinds at a rate, one write at a time for each name. A write whose answer is missing is
 * found by reading the object: no other client writes it, so its version tells whether the write was made.
 */
import { setTimeout } from 'node:timers/promises';
import { ObjectClient } from '../../src/controller/index.ts';
import { withCode } from '../../src/base/errors.ts';
import { resources } from '../../src/index.ts';
import type { KubeObject, ServerSource } from '../../src/index.ts';
import type { ResourceOf } from '../../src/kube/resource.ts';
import { nowMs } from '../e2e/members/history.ts';
import { WRITTEN_KINDS } from './window-record.ts';
import type { KindName, MadeWrite, State, WrittenKind } from './window-record.ts';

export const NAMESPACE = 'default';
export const RESOURCES: Readonly<Record<WrittenKind, ResourceOf<KubeObject>>> = {
  configMaps: resources.core.v1.configMaps,
  podTemplates: resources.core.v1.podTemplates,
  serviceAccounts: resources.core.v1.serviceAccounts,
  services: resources.core.v1.services,
};
/** The label of all objects of a soak. */
export const LABELS = { soak: 'yes' } as const;
const KEPT = 100;
const AGAIN = 20;
const RATE_PER_SECOND = 100;
const TICK_MS = 20;
const WRITES_MAX = 16;
const RETRY_MS = 250;
/** One write in so many is of a name that is deleted and made again. */
const AGAIN_EVERY = 6;
const TEMPLATE = { spec: { containers: [{ name: 'none', image: 'none' }] } };
/** Without an address that the server would have to allocate. */
const HEADLESS = { clusterIP: 'None', ports: [{ port: 80 }] };
const PADDING = 'x'.repeat(300);

interface Known {
  readonly version: number;
  readonly uid: string;
}

export class Load {
  /** Writes since the last `take`. */
  #made: MadeWrite[] = [];
  readonly #client: ObjectClient;
  /** The objects that exist, by kind and name. */
  readonly #known = new Map<string, Known>();
  readonly #writing = new Map<string, Promise<void>>();
  /** The newest version that was written of each kind. */
  readonly #newest = new Map<WrittenKind, number>();
  #changes = 0;

  constructor(source: ServerSource) {
    this.#client = new ObjectClient(source);
  }

  /** Makes the objects that stay. */
  async fill(): Promise<void> {
    for (const kind of WRITTEN_KINDS)
      for (let number = 0; number < KEPT; number++) await this.#start(kind, `kept-${number}`, 'keep');
    await this.#end();
  }

  /** Changes objects until the signal is aborted; resolves when every write is confirmed or found. */
  async run(signal: AbortSignal): Promise<void> {
    const startMs = nowMs();
    const before = this.#changes;
    while (!signal.aborted) {
      // A server that was away is not flooded: writes that were due meanwhile are left out.
      const due = Math.min(
        before + ((nowMs() - startMs) / 1000) * RATE_PER_SECOND,
        this.#changes + WRITES_MAX,
      );
      while (this.#changes < due && !signal.aborted) await this.#next();
      await setTimeout(TICK_MS);
    }
    await this.#end();
  }

  /** Deletes objects of every kind and makes them again under their names. */
  async again(): Promise<void> {
    for (const kind of WRITTEN_KINDS)
      for (let number = 0; number < AGAIN; number++) {
        await this.#start(kind, `again-${number}`, 'absent');
        await this.#start(kind, `again-${number}`, 'keep');
      }
  }

  /** Changes an object of each kind: the newest version of a kind is known after that, also when its last write was a deletion. */
  async touch(): Promise<Readonly<Record<KindName, number>>> {
    for (const kind of WRITTEN_KINDS) await this.#start(kind, 'kept-0', 'keep');
    await this.#end();
    const newest = (kind: KindName): number => this.#newest.get(kind) ?? 0;
    return {
      podTemplates: newest('podTemplates'),
      serviceAccounts: newest('serviceAccounts'),
      services: newest('services'),
    };
  }

  /** Returns the writes since the last call, in their order for each object. */
  take(): MadeWrite[] {
    const made = this.#made;
    this.#made = [];
    return made;
  }

  get made(): readonly MadeWrite[] {
    return this.#made;
  }

  /** Lists the objects of all kinds. */
  async listed(): Promise<Record<KindName, State>> {
    const [podTemplates, serviceAccounts, services] = await Promise.all([
      this.#list('podTemplates'),
      this.#list('serviceAccounts'),
      this.#list('services'),
    ]);
    return { podTemplates, serviceAccounts, services };
  }

  /** Returns the number of Leases in the namespace. */
  async leases(): Promise<number> {
    let count = 0;
    for await (const { items } of this.#client.list(resources.coordination.v1.leases, {
      namespace: NAMESPACE,
    }))
      count += items.length;
    return count;
  }

  async #list(kind: KindName): Promise<State> {
    const state = new Map<string, number>();
    const options = { namespace: NAMESPACE, labelSelector: 'soak=yes' };
    for await (const { items } of this.#client.list(RESOURCES[kind], options))
      for (const { metadata } of items)
        state.set(keyOf(metadata?.name ?? ''), Number(metadata?.resourceVersion));
    return state;
  }

  async #next(): Promise<void> {
    const change = this.#changes++;
    const kind = WRITTEN_KINDS[change % WRITTEN_KINDS.length] ?? 'configMaps';
    const number = Math.floor(change / WRITTEN_KINDS.length);
    if (number % AGAIN_EVERY > 0) return this.#start(kind, `kept-${number % KEPT}`, 'keep');
    const name = `again-${(number / AGAIN_EVERY) % AGAIN}`;
    return this.#start(kind, name, this.#known.has(`${kind} ${name}`) ? 'absent' : 'keep');
  }

  /** Writes an object when the write before it under its name has ended, and there are not too many in progress. */
  async #start(kind: WrittenKind, name: string, wanted: 'keep' | 'absent'): Promise<void> {
    const id = `${kind} ${name}`;
    const before = this.#writing.get(id) ?? Promise.resolve();
    const writing = before.then(() => this.#write(kind, name, wanted));
    this.#writing.set(id, writing);
    void writing.then(() => this.#writing.get(id) === writing && this.#writing.delete(id));
    while (this.#writing.size >= WRITES_MAX) await Promise.race(this.#writing.values());
  }

  async #write(kind: WrittenKind, name: string, wanted: 'keep' | 'absent'): Promise<void> {
    const key = keyOf(name);
    const known = this.#known.get(`${kind} ${name}`);
    if (wanted === 'absent' && !known) return;
    const sentMs = nowMs();
    try {
      if (wanted === 'absent') {
        let version = 0;
        // Servers answer with the deleted object, for some kinds.
        const client = this.#client.observed((_, { metadata }) => {
          version = Number(metadata?.resourceVersion ?? 0);
        });
        await client.delete(RESOURCES[kind], key);
        this.#noteDeletion(kind, name, version, sentMs, nowMs());
        return;
      }
      const annotations = { change: String(this.#changes), padding: PADDING, at: String(sentMs) };
      const made = known
        ? await this.#client.patch(RESOURCES[kind], key, { metadata: { annotations } })
        : await this.#client.create(RESOURCES[kind], bodyOf(kind, name, annotations));
      this.#note(kind, name, made, sentMs, nowMs());
    } catch {
      const endedMs = nowMs();
      const object = await this.#read(kind, key);
      if (object) this.#note(kind, name, object, sentMs, endedMs);
      else if (known) this.#noteDeletion(kind, name, 0, sentMs, endedMs);
    }
  }

  /** Reads an object until the server answers; undefined: it does not exist. */
  async #read(kind: WrittenKind, key: string): Promise<KubeObject | undefined> {
    for (;;) {
      try {
        return await this.#client.get(RESOURCES[kind], key);
      } catch (error) {
        if (withCode(error).code === 'ERR_KUBELOOM_NOT_FOUND') return undefined;
        await setTimeout(RETRY_MS);
      }
    }
  }

  /** Records the write that led to this state, unless it is the state before. */
  #note(kind: WrittenKind, name: string, { metadata }: KubeObject, sentMs: number, endedMs: number): void {
    const id = `${kind} ${name}`;
    const known = this.#known.get(id);
    const { uid = '', resourceVersion } = metadata ?? {};
    const version = Number(resourceVersion);
    if (known?.version === version) return;
    this.#known.set(id, { version, uid });
    this.#newest.set(kind, Math.max(version, this.#newest.get(kind) ?? 0));
    const change = known ? 'update' : 'create';
    this.#made.push({ kind, key: keyOf(name), change, uid, version, sentMs, endedMs, atMs: nowMs() });
  }

  #noteDeletion(kind: WrittenKind, name: string, version: number, sentMs: number, endedMs: number): void {
    const id = `${kind} ${name}`;
    const { uid = '' } = this.#known.get(id) ?? {};
    this.#known.delete(id);
    this.#made.push({
      kind,
      key: keyOf(name),
      change: 'delete',
      uid,
      version,
      sentMs,
      endedMs,
      atMs: nowMs(),
    });
  }

  async #end(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing.values());
  }
}

function keyOf(name: string): string {
  return `${NAMESPACE}/${name}`;
}

function bodyOf(kind: WrittenKind, name: string, annotations: Readonly<Record<string, string>>): KubeObject {
  const metadata = { name, namespace: NAMESPACE, labels: { ...LABELS }, annotations };
  const own =
    kind === 'podTemplates' ? { template: TEMPLATE } : kind === 'services' ? { spec: HEADLESS } : {};
  return { apiVersion: 'v1', kind: RESOURCES[kind].kind, metadata, ...own };
}
