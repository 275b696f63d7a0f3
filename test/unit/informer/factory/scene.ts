/** A server, threads, factories and caches on them; everything ends with the scene. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { DynamicSharedInformerFactory, MetadataInformerFactory } from '../../../../src/client-go/index.ts';
import { InformerThreads, SharedInformerFactory } from '../../../../src/index.ts';
import { InformersMap } from '../../../../src/controller/index.ts';
import type { FactoryOptions } from '../../../../src/index.ts';
import type { InformersMapOptions } from '../../../../src/controller/index.ts';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type {
  EmbeddedApiServer,
  ObjectLike,
  RequestRecord,
} from '../../../../src/tools/apiserver/testing/index.ts';
import { WIDGETS } from '../../../kit/objects.ts';
import { kubeConfigOf } from '../../../kit/scene.ts';
import { HANG_MS } from '../../../kit/hang.ts';

export const THREADS = [0, 2] as const;

export const WIDGET = { group: 'example.com', version: 'v1', resource: 'widgets' };
export const POD = { group: '', version: 'v1', resource: 'pods' };
export const SECRET = { group: '', version: 'v1', resource: 'secrets' };

/** For waits that are expected to end by themselves. */
export function soon(): AbortSignal {
  return AbortSignal.timeout(HANG_MS);
}

export class Scene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly kubeConfig: KubeConfig;
  readonly threads: InformerThreads;
  readonly errors: (Error & { readonly code?: string })[] = [];
  readonly #users: { shutdown(): Promise<void> }[] = [];

  private constructor(server: EmbeddedApiServer, threads: number) {
    this.server = server;
    this.kubeConfig = kubeConfigOf(server);
    this.threads = new InformerThreads({ indexerThreads: threads });
  }

  static async start(threads: number = 0): Promise<Scene> {
    return new Scene(await startEmbeddedApiServer({ tls: false, resources: [WIDGETS] }), threads);
  }

  static async withPods(...pods: readonly ObjectLike[]): Promise<Scene> {
    const scene = await Scene.start();
    await scene.create('pods', ...pods);
    return scene;
  }

  options<Options extends FactoryOptions | InformersMapOptions>(options?: Options): Options {
    return {
      threads: this.threads,
      onError: (error: Error) => this.errors.push(error),
      backoff: { initialMs: 1, maxMs: 5 },
      ...options,
    } as unknown as Options;
  }

  typed(options: FactoryOptions = {}): SharedInformerFactory {
    return this.#keep(new SharedInformerFactory(this.kubeConfig, this.options(options)));
  }

  dynamic(options: FactoryOptions = {}): DynamicSharedInformerFactory {
    return this.#keep(new DynamicSharedInformerFactory(this.kubeConfig, this.options(options)));
  }

  metadata(options: FactoryOptions = {}): MetadataInformerFactory {
    return this.#keep(new MetadataInformerFactory(this.kubeConfig, this.options(options)));
  }

  cache(options: InformersMapOptions = {}, kubeConfig: KubeConfig = this.kubeConfig): InformersMap {
    return this.#keep(new InformersMap(kubeConfig, this.options(options)));
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

  get codes(): (string | undefined)[] {
    return this.errors.map(({ code }) => code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#users.map((user) => user.shutdown()));
    await this.threads.close();
    await this.server.close();
  }

  #keep<User extends { shutdown(): Promise<void> }>(user: User): User {
    this.#users.push(user);
    return user;
  }
}

/** Counts the bytes that the scene's server sends. */
export class CountingProxy implements AsyncDisposable {
  bytes = 0;
  readonly kubeConfig: KubeConfig = new KubeConfig();
  readonly #sockets: Set<Socket> = new Set();
  readonly #listener = createServer((down) => this.#connect(down));
  readonly #scene: Scene;

  private constructor(scene: Scene) {
    this.#scene = scene;
  }

  static async start(scene: Scene): Promise<CountingProxy> {
    const proxy = new CountingProxy(scene);
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    const { port } = proxy.#listener.address() as AddressInfo;
    const { kubeConfigYaml, url } = scene.server;
    proxy.kubeConfig.loadFromString(kubeConfigYaml.replaceAll(url, `http://127.0.0.1:${port}`));
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #connect(down: Socket): void {
    const up = connect(this.#scene.server.port, '127.0.0.1');
    up.on('data', (chunk) => (this.bytes += chunk.length));
    for (const socket of [down, up]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => [down, up].forEach((end) => end.destroy()));
    }
    down.pipe(up).pipe(down);
  }
}

/** A namespaced object of any kind. */
export function object(name: string, namespace: string = 'default', more: object = {}): ObjectLike {
  return { metadata: { name, namespace, ...more }, spec: { size: 1 } };
}

interface Factory {
  start(): void;
  waitForCacheSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** Starts what was asked for, and waits until it has synced. */
export async function synced(factory: Factory): Promise<void> {
  factory.start();
  await factory.waitForCacheSync({ signal: soon() });
}

export function keys(found: readonly { readonly key: string }[]): string[] {
  return found.map(({ key }) => key).toSorted();
}

/** Fails when it is fulfilled. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  const rejected = await promise.then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  assert.ok(rejected instanceof Error, 'it was expected to be rejected');
  return rejected;
}
