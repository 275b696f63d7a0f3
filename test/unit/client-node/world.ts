/**
 * Scripted apiserver with one collection, for one client: it answers LIST and WATCH as an apiserver does, and fails when
 * the test says so.
 */
import { ScriptedServer, bookmark, status } from '../../kit/scripted-server.ts';
import type { ScriptedRequest } from '../../kit/scripted-server.ts';

export interface WireObject {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
}

interface LogEntry {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: WireObject;
}

interface Refusal {
  readonly verb: 'list' | 'watch';
  readonly code: number;
}

/** Round trips over the loopback after which nothing more is expected. */
const QUIET_REQUESTS = 20;

const EXPIRED = status(410, 'Expired', 'too old resource version');

export class World implements AsyncDisposable {
  readonly #objects = new Map<string, WireObject>();
  readonly #log: LogEntry[] = [];
  readonly #open: ScriptedRequest[] = [];
  readonly #waiters: (() => void)[] = [];
  readonly #refusals: Refusal[] = [];
  readonly #type: { readonly kind: string; readonly apiVersion: string };
  #version = 10;
  /** Watches from earlier versions are too old. */
  #oldestVersion = 0;
  #server: ScriptedServer | undefined;

  private constructor(kind: string, apiVersion: string) {
    this.#type = { kind, apiVersion };
  }

  static async start(kind = 'Pod', apiVersion = 'v1'): Promise<World> {
    const world = new World(kind, apiVersion);
    world.#server = await ScriptedServer.start((request) => world.#answer(request));
    return world;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** Lists and watches, with their selectors: `list app=web`. Refused streaming lists are left out. */
  get requests(): string[] {
    const all = this.#server?.requests ?? [];
    const asked = all.filter(({ isStreamingList, path }) => !isStreamingList && path !== '/quiet');
    return asked.map(({ isWatch, path, query }) => {
      const selectors = [query['labelSelector'], query['fieldSelector']].filter(Boolean);
      return [isWatch ? 'watch' : 'list', path, ...selectors].join(' ');
    });
  }

  /** Creates or replaces an object; sends it to open watches. */
  put(name: string, more: { readonly namespace?: string; readonly [field: string]: unknown } = {}): void {
    const { namespace = 'default', metadata = {}, ...rest } = more;
    const key = `${namespace}/${name}`;
    const stored = { name, uid: `uid-${name}`, creationTimestamp: '2024-05-06T07:08:09Z' };
    const place = namespace === '' ? {} : { namespace };
    const object = this.#stamped({ ...rest, metadata: { ...stored, ...place, ...(metadata as object) } });
    this.#append(this.#objects.has(key) ? 'MODIFIED' : 'ADDED', object);
    this.#objects.set(key, object);
  }

  /** Replaces an object without a new version, as a restored etcd does. */
  replaceSilently(name: string, more: object): void {
    const key = `default/${name}`;
    const object = this.#objects.get(key);
    if (object) this.#objects.set(key, { ...object, ...more });
  }

  remove(name: string, namespace = 'default'): void {
    const key = `${namespace}/${name}`;
    const object = this.#objects.get(key);
    if (!object) throw new Error(`${key} does not exist`);
    this.#objects.delete(key);
    this.#append('DELETED', this.#stamped(object));
  }

  /** Sends lines to the open watches as they are. */
  send(...lines: readonly unknown[]): void {
    for (const watch of this.#open) watch.send(...lines);
  }

  /** Sends a bookmark of a new version. */
  bookmark(): string {
    const version = String(++this.#version);
    this.send(bookmark(version));
    return version;
  }

  /** Ends the open watches as a server does after some minutes. */
  close(): void {
    for (const watch of this.#open.splice(0)) watch.end();
  }

  /** Breaks the connections of the open watches; with changes that they do not receive. */
  cut(change: () => void = () => undefined): void {
    const open = this.#open.splice(0);
    change();
    for (const watch of open) watch.cut();
  }

  /** Later changes have versions from here on. */
  skipTo(version: number): void {
    this.#version = version;
  }

  /** Resolves when a watch is open. */
  async watching(): Promise<void> {
    if (this.#open.length === 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Resolves when another client's requests are answered: what was sent before has arrived. */
  async quiet(): Promise<void> {
    for (let count = 0; count < QUIET_REQUESTS; count++) await (await fetch(`${this.url}/quiet`)).text();
  }

  /**
   * Forgets changes before the client receives them: they need a list. The open watches end with an ERROR event, or
   * silently, and then the next watch is refused.
   */
  expire(change: () => void = () => undefined, isEvent = true): void {
    const open = this.#open.splice(0);
    change();
    this.#oldestVersion = ++this.#version;
    for (const watch of open) {
      if (isEvent) watch.send({ type: 'ERROR', object: EXPIRED });
      watch.end();
    }
  }

  /** Refuses the next request of this verb. */
  refuse(verb: Refusal['verb'], code: number, times = 1): void {
    for (let count = 0; count < times; count++) this.#refusals.push({ verb, code });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #stamped({ metadata, ...object }: WireObject & object): WireObject {
    const resourceVersion = String(++this.#version);
    return { ...this.#type, ...object, metadata: { ...metadata, resourceVersion } };
  }

  #append(type: LogEntry['type'], object: WireObject): void {
    this.#log.push({ version: this.#version, type, object });
    this.send({ type, object });
  }

  #answer(request: ScriptedRequest): void {
    if (request.path === '/quiet') return request.answer(200, {});
    const forbidden = status(400, 'BadRequest', 'sendInitialEvents is forbidden');
    if (request.isStreamingList) return request.answer(400, forbidden);
    const verb = request.isWatch ? 'watch' : 'list';
    const index = this.#refusals.findIndex((refusal) => refusal.verb === verb);
    const [refusal] = index === -1 ? [] : this.#refusals.splice(index, 1);
    if (refusal) request.answer(refusal.code, status(refusal.code, 'Refused'));
    else if (verb === 'list') this.#list(request);
    else this.#watch(request);
  }

  #list(request: ScriptedRequest): void {
    const { kind, apiVersion } = this.#type;
    const isBuiltIn = !apiVersion.includes('.');
    // Items of built-in kinds have no kind.
    const items = Array.from(this.#objects.values(), (object) =>
      isBuiltIn ? { ...object, kind: undefined, apiVersion: undefined } : object,
    );
    const metadata = { resourceVersion: String(this.#version) };
    request.answer(200, { kind: `${kind}List`, apiVersion, metadata, items });
  }

  #watch(request: ScriptedRequest): void {
    const from = Number(request.query['resourceVersion'] ?? 0);
    if (from < this.#oldestVersion) return request.answer(410, EXPIRED);
    const missed = this.#log.filter(({ version }) => version > from);
    request.send(...missed.map(({ type, object }) => ({ type, object })));
    if (request.query['allowWatchBookmarks'] === 'true') request.send(bookmark(String(this.#version)));
    this.#open.push(request);
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
