/**
 * The start of every test of the suite: a client, and a namespace of its own. So tests see neither each other
 * nor other objects of a real server.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach } from 'node:test';
import { Client } from './client.ts';
import type { Body, Answer, WatchStream } from './client.ts';
import type { Target } from './target.ts';

export class Fixture {
  readonly #streams: WatchStream[] = [];
  target!: Target;
  client!: Client;
  namespace = '';

  /** Registers the hooks; call it inside a `describe`. Its tests have a namespace each, or one together. */
  static use(target: () => Promise<Target>, namespaces: 'each' | 'together' = 'each'): Fixture {
    const fixture = new Fixture();
    before(async () => {
      fixture.target = await target();
      fixture.client = new Client(fixture.target);
    });
    (namespaces === 'each' ? beforeEach : before)(() => fixture.newNamespace());
    after(() => fixture.#closeStreams());
    return fixture;
  }

  /** Makes an empty namespace. */
  async newNamespace(): Promise<string> {
    this.namespace = `sem-${randomBytes(4).toString('hex')}`;
    await this.client.post('/api/v1/namespaces', { metadata: { name: this.namespace } });
    return this.namespace;
  }

  configMaps(query = ''): string {
    return `/api/v1/namespaces/${this.namespace}/configmaps${query === '' ? '' : `?${query}`}`;
  }

  configMap(name: string): string {
    return `/api/v1/namespaces/${this.namespace}/configmaps/${name}`;
  }

  pods(query = ''): string {
    return `/api/v1/namespaces/${this.namespace}/pods${query === '' ? '' : `?${query}`}`;
  }

  pod(name: string): string {
    return `/api/v1/namespaces/${this.namespace}/pods/${name}`;
  }

  /** Like the methods of the client, these assert success, and resolve to the body. */
  async get(path: string, accept?: string): Promise<Body> {
    return ok(await this.client.get(path, accept === undefined ? {} : { accept }));
  }

  async post(path: string, body: unknown): Promise<Body> {
    return ok(await this.client.post(path, body));
  }

  async put(path: string, body: unknown): Promise<Body> {
    return ok(await this.client.put(path, body));
  }

  async patch(path: string, body: unknown): Promise<Body> {
    return ok(await this.client.mergePatch(path, body));
  }

  async list(query = ''): Promise<Body> {
    return this.get(this.configMaps(query));
  }

  /** Creates a ConfigMap, and asserts success. */
  async create(
    name: string,
    labels: Record<string, string> = {},
    data: Record<string, string> = {},
  ): Promise<Body> {
    return this.post(this.configMaps(), { metadata: { name, labels }, data });
  }

  async createPod(name: string, labels: Record<string, string> = {}): Promise<Body> {
    const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] };
    return this.post(this.pods(), { metadata: { name, labels }, spec });
  }

  /** Changes the data of a ConfigMap, which makes an event. */
  async touch(name: string, value: string): Promise<Body> {
    return this.patch(this.configMap(name), { data: { touched: value } });
  }

  async delete(name: string): Promise<Body> {
    return ok(await this.client.delete(this.configMap(name)));
  }

  /** The current revision of the server. */
  async revision(): Promise<string> {
    return (await this.list('limit=1')).metadata.resourceVersion;
  }

  async watch(path: string, accept?: string): Promise<WatchStream> {
    const stream = await this.client.watch(path, accept);
    this.#streams.push(stream);
    return stream;
  }

  watchFrom(revision: string | bigint): Promise<WatchStream> {
    return this.watch(this.configMaps(`watch=1&resourceVersion=${revision}`));
  }

  #closeStreams(): void {
    for (const stream of this.#streams) stream.close();
  }
}

/** Returns the body of an answer. @throws when the answer is not a success */
export function ok(answer: Answer): Body {
  if (answer.status < 200 || answer.status > 299) throw new Error(`HTTP ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** Asserts that an answer is a refusal, with its message in whole or in part. */
export function refused(
  { status, body, text }: Answer,
  code: number,
  why: string | RegExp,
  reason = body.reason,
): void {
  assert.equal(status, code, text);
  assert.equal(body.reason, reason);
  if (typeof why === 'string') assert.equal(body.message, why);
  else assert.match(body.message ?? '', why);
}

export function names(list: Body): string[] {
  return list.items.map(({ metadata }) => metadata.name);
}
