/** A server, threads of a kind, and factories on them; everything ends with the scene. */
import assert from 'node:assert/strict';
import type { KubeConfig } from '@kubernetes/client-node';
import {
  DynamicSharedInformerFactory,
  InformerThreads,
  MetadataInformerFactory,
  SharedInformerFactory,
} from '../../../../src/index.ts';
import type { FactoryOptions } from '../../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../../src/apiserver/testing/index.ts';
import type {
  EmbeddedApiServer,
  ObjectLike,
  RequestRecord,
  ResourceDefinition,
} from '../../../../src/apiserver/testing/index.ts';
import { kubeConfigOf } from '../pipeline/harness.ts';

export const THREADS = [0, 2] as const;

export const WIDGETS: ResourceDefinition = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: true,
};

export const WIDGET = { group: 'example.com', version: 'v1', resource: 'widgets' };
export const POD = { group: '', version: 'v1', resource: 'pods' };
export const SECRET = { group: '', version: 'v1', resource: 'secrets' };

export const SYNC_TIMEOUT_MS = 20_000;

/** For waits that are expected to end by themselves. */
export function soon(): AbortSignal {
  return AbortSignal.timeout(SYNC_TIMEOUT_MS);
}

export class Scene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly kubeConfig: KubeConfig;
  readonly threads: InformerThreads;
  readonly errors: (Error & { readonly code?: string })[] = [];
  readonly #factories: { shutdown(): Promise<void> }[] = [];

  private constructor(server: EmbeddedApiServer, threads: number) {
    this.server = server;
    this.kubeConfig = kubeConfigOf(server);
    this.threads = new InformerThreads({ shards: threads });
  }

  static async start(threads: number): Promise<Scene> {
    return new Scene(await startEmbeddedApiServer({ tls: false, resources: [WIDGETS] }), threads);
  }

  options(options: FactoryOptions = {}): FactoryOptions {
    return {
      threads: this.threads,
      onError: (error) => this.errors.push(error),
      backoff: { initialMs: 1, maxMs: 5 },
      ...options,
    };
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

  async create(resource: string, ...objects: readonly ObjectLike[]): Promise<void> {
    await this.server.apply(objects.map((object) => ({ type: 'create', resource, object })));
  }

  /** Returns the server's requests under this path. */
  async requests(path: string): Promise<RequestRecord[]> {
    return (await this.server.requests()).filter((request) => request.path === path);
  }

  get codes(): (string | undefined)[] {
    return this.errors.map(({ code }) => code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#factories.map((factory) => factory.shutdown()));
    await this.threads.close();
    await this.server.close();
  }

  #keep<Factory extends { shutdown(): Promise<void> }>(factory: Factory): Factory {
    this.#factories.push(factory);
    return factory;
  }
}

/** A namespaced object of any kind. */
export function object(name: string, namespace: string = 'default', more: object = {}): ObjectLike {
  return { metadata: { name, namespace, ...more }, spec: { size: 1 } } as ObjectLike;
}

interface Factory {
  start(): void;
  waitForCacheSync(signal?: AbortSignal): Promise<void>;
}

/** Starts what was asked for, and waits until it has synced. */
export async function synced(factory: Factory): Promise<void> {
  factory.start();
  await factory.waitForCacheSync(soon());
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
