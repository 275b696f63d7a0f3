/**
 * The writes of a soak: objects of four kinds in a closed loop, where a write follows the answer to the write before, and one write
 * at a time for each name. A write whose answer is missing is found by reading the object: no other client writes it, so its version tells whether the write was made.
 */
import { ObjectClient } from '../../src/controller/index.ts';
import { withCode } from '../../src/base/errors.ts';
import { resources } from '../../src/index.ts';
import type { KubeObject, ServerSource } from '../../src/index.ts';
import type { ResourceOf } from '../../src/kube/resource.ts';
import { nowMs } from '../e2e/members/history.ts';
import { until } from '../kit/until.ts';
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
const WRITERS = 2;
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
  #answered = 0;
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();

  constructor(source: ServerSource) {
    this.#client = new ObjectClient(source);
  }

  /** Makes the objects that stay. */
  async fill(): Promise<void> {
    for (const kind of WRITTEN_KINDS)
      for (let number = 0; number < KEPT; number++) await this.#inTurn(kind, `kept-${number}`, 'keep');
  }

  /** Changes objects until the signal is aborted; resolves when every write is confirmed or found. */
  async run(signal: AbortSignal): Promise<void> {
    const write = async (): Promise<void> => {
      while (!signal.aborted) await this.#next();
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
  }

  /** Resolves when so many more writes are answered. */
  answered(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.add({ count: this.#answered + count, resolve }));
  }

  /** Deletes objects of every kind and makes them again under their names. */
  async again(): Promise<void> {
    for (const kind of WRITTEN_KINDS)
      for (let number = 0; number < AGAIN; number++) {
        await this.#inTurn(kind, `again-${number}`, 'absent');
        await this.#inTurn(kind, `again-${number}`, 'keep');
      }
  }

  /** Changes an object of each kind: the newest version of a kind is known after that, also when its last write was a deletion. */
  async touch(): Promise<Readonly<Record<KindName, number>>> {
    for (const kind of WRITTEN_KINDS) await this.#inTurn(kind, 'kept-0', 'keep');
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
    if (number % AGAIN_EVERY > 0) return this.#inTurn(kind, `kept-${number % KEPT}`, 'keep');
    const name = `again-${(number / AGAIN_EVERY) % AGAIN}`;
    return this.#inTurn(kind, name, this.#known.has(`${kind} ${name}`) ? 'absent' : 'keep');
  }

  /** Writes an object when the write before it under its name has ended. */
  async #inTurn(kind: WrittenKind, name: string, wanted: 'keep' | 'absent'): Promise<void> {
    const id = `${kind} ${name}`;
    const before = this.#writing.get(id) ?? Promise.resolve();
    const writing = before.then(() => this.#write(kind, name, wanted));
    this.#writing.set(id, writing);
    await writing;
    if (this.#writing.get(id) === writing) this.#writing.delete(id);
    this.#answered++;
    for (const waiting of this.#waiting) {
      if (waiting.count > this.#answered) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
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

  /** Reads an object when the server answers; undefined: it does not exist. */
  async #read(kind: WrittenKind, key: string): Promise<KubeObject | undefined> {
    let object: KubeObject | undefined;
    await until(async () => {
      try {
        object = await this.#client.get(RESOURCES[kind], key);
        return true;
      } catch (error) {
        return withCode(error).code === 'ERR_KUBELOOM_NOT_FOUND';
      }
    }, 'an answer of the server');
    return object;
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
