/** A server, threads, caches on them, and recording handlers. Everything ends with the scene. */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, InformersMap } from '../../../../src/index.ts';
import type { Borrowed, DeletedFinalStateUnknown, InformersMapOptions } from '../../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import type {
  EmbeddedApiServer,
  ObjectLike,
  RequestRecord,
} from '../../../../src/apiserver/testing/index.ts';
import { WIDGETS, soon } from '../factory/scene.ts';
import { kubeConfigOf } from '../pipeline/harness.ts';

export { object, rejection, soon } from '../factory/scene.ts';
export { Gate, isPending, turns } from '../scene.ts';

export const POD = { group: '', version: 'v1', kind: 'Pod' };
export const NODE = { group: '', version: 'v1', kind: 'Node' };
export const WIDGET = { group: 'example.com', version: 'v1', kind: 'Widget' };

export class Scene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly kubeConfig: KubeConfig;
  readonly threads: InformerThreads;
  readonly errors: (Error & { readonly code?: string })[] = [];
  readonly #caches: InformersMap[] = [];

  private constructor(server: EmbeddedApiServer, threads: number) {
    this.server = server;
    this.kubeConfig = kubeConfigOf(server);
    this.threads = new InformerThreads({ shards: threads });
  }

  static async start(threads: number = 0): Promise<Scene> {
    return new Scene(await startEmbeddedApiServer({ tls: false, resources: [WIDGETS] }), threads);
  }

  cache(options: InformersMapOptions = {}, kubeConfig: KubeConfig = this.kubeConfig): InformersMap {
    const cache = new InformersMap(kubeConfig, {
      threads: this.threads,
      onError: (error) => this.errors.push(error),
      backoff: { initialMs: 1, maxMs: 5 },
      ...options,
    });
    this.#caches.push(cache);
    return cache;
  }

  async create(resource: string, ...objects: readonly ObjectLike[]): Promise<void> {
    await this.server.apply(objects.map((object) => ({ type: 'create', resource, object })));
  }

  async put(resource: string, ...objects: readonly ObjectLike[]): Promise<void> {
    await this.server.apply(objects.map((object) => ({ type: 'put', resource, object })));
  }

  async remove(resource: string, namespace: string, name: string): Promise<void> {
    await this.server.apply([{ type: 'delete', resource, namespace, name }]);
  }

  /** Returns the requests with paths that contain this text. */
  async requests(part: string = ''): Promise<RequestRecord[]> {
    return (await this.server.requests()).filter(({ path }) => path.includes(part));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#caches.map((cache) => cache.shutdown()));
    await this.threads.close();
    await this.server.close();
  }
}

/** A pod as far as these tests care. */
export function pod(name: string, namespace: string, spec: object = {}, more: object = {}): ObjectLike {
  return { metadata: { name, namespace, ...more }, spec } as ObjectLike;
}

/** `add a/x initial`, `update a/x`, `delete a/x`, `gone a/x`. */
export class Lines<T = unknown> {
  readonly lines: string[] = [];
  readonly shown: Borrowed<T>[] = [];
  readonly #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  onAdd(added: Borrowed<T>, isInInitialList: boolean): void {
    this.#write(`add ${added.key}${isInInitialList ? ' initial' : ''}`, added);
  }

  onUpdate(_previous: Borrowed<T>, current: Borrowed<T>): void {
    this.#write(`update ${current.key}`, current);
  }

  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): void {
    this.#write(`${deleted.finalStateUnknown ? 'gone' : 'delete'} ${deleted.key}`);
  }

  /** Resolves when there are so many lines. */
  async count(count: number): Promise<void> {
    if (this.lines.length >= count) return;
    const signal = soon();
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`only ${this.lines.join(', ')}`)));
      this.#waiters.push({ count, resolve });
    });
  }

  #write(line: string, shown?: Borrowed<T>): void {
    this.lines.push(line);
    if (shown) this.shown.push(shown.retain());
    for (const { count, resolve } of this.#waiters) if (this.lines.length >= count) resolve();
  }
}

/** Counts what the server sends. */
export class CountingProxy implements AsyncDisposable {
  bytes = 0;
  readonly kubeConfig: KubeConfig;
  readonly #sockets: Set<Socket> = new Set();
  readonly #close: () => void;

  private constructor(port: number, scene: Scene, close: () => void) {
    this.kubeConfig = new KubeConfig();
    const yaml = scene.server.kubeConfigYaml.replaceAll(scene.server.url, `http://127.0.0.1:${port}`);
    this.kubeConfig.loadFromString(yaml);
    this.#close = close;
  }

  static async start(scene: Scene): Promise<CountingProxy> {
    const server = createServer((down) => {
      const up = connect(scene.server.port, '127.0.0.1');
      for (const socket of [down, up]) {
        proxy.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          up.destroy();
          down.destroy();
        });
      }
      up.on('data', (chunk) => (proxy.bytes += chunk.length));
      down.pipe(up);
      up.pipe(down);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const proxy = new CountingProxy(port, scene, () => server.close());
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#close();
  }
}
