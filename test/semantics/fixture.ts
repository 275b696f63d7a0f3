/**
 * What every test of the suite starts from: a client, and a namespace of its own, so that tests neither see each other
 * nor whatever else lives in a real server.
 */

import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import { Client } from './client.ts';
import type { Body } from './body.ts';
import type { Answer } from './client.ts';
import type { Target } from './target.ts';
import type { WatchStream } from './watch-stream.ts';

export class Fixture {
  readonly #streams: WatchStream[] = [];
  #target: Target | undefined;
  #client: Client | undefined;
  #namespace = '';

  /** Registers the hooks; to be called inside a `describe`. */
  static use(target: () => Promise<Target>): Fixture {
    const fixture = new Fixture();
    before(async () => {
      fixture.#target = await target();
      fixture.#client = new Client(fixture.#target);
      await fixture.newNamespace();
    });
    after(() => fixture.#closeStreams());
    return fixture;
  }

  get target(): Target {
    if (this.#target === undefined) throw new Error('the fixture is used before its tests run');
    return this.#target;
  }

  get client(): Client {
    if (this.#client === undefined) throw new Error('the fixture is used before its tests run');
    return this.#client;
  }

  get namespace(): string {
    return this.#namespace;
  }

  /** Tests that count objects begin with an empty namespace. */
  async newNamespace(): Promise<string> {
    this.#namespace = `sem-${randomBytes(4).toString('hex')}`;
    await this.client.post('/api/v1/namespaces', { metadata: { name: this.#namespace } });
    return this.#namespace;
  }

  configMaps(query = ''): string {
    return `/api/v1/namespaces/${this.#namespace}/configmaps${query === '' ? '' : `?${query}`}`;
  }

  configMap(name: string): string {
    return `/api/v1/namespaces/${this.#namespace}/configmaps/${name}`;
  }

  pods(query = ''): string {
    return `/api/v1/namespaces/${this.#namespace}/pods${query === '' ? '' : `?${query}`}`;
  }

  pod(name: string): string {
    return `/api/v1/namespaces/${this.#namespace}/pods/${name}`;
  }

  /** Creates a ConfigMap, and insists on it. */
  async create(
    name: string,
    labels: Record<string, string> = {},
    data: Record<string, string> = {},
  ): Promise<Body> {
    return ok(await this.client.post(this.configMaps(), { metadata: { name, labels }, data }));
  }

  async createPod(name: string, labels: Record<string, string> = {}): Promise<Body> {
    const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] };
    return ok(await this.client.post(this.pods(), { metadata: { name, labels }, spec }));
  }

  /** Changes the data of a ConfigMap, so that there is an event. */
  async touch(name: string, value: string): Promise<Body> {
    return ok(await this.client.mergePatch(this.configMap(name), { data: { touched: value } }));
  }

  async delete(name: string): Promise<Body> {
    return ok(await this.client.delete(this.configMap(name)));
  }

  /** The revision of the server, now. */
  async revision(): Promise<string> {
    return ok(await this.client.get(this.configMaps('limit=1'))).metadata.resourceVersion;
  }

  async watch(path: string, accept?: string): Promise<WatchStream> {
    const stream = await this.client.watch(path, accept);
    this.#streams.push(stream);
    return stream;
  }

  #closeStreams(): void {
    for (const stream of this.#streams) stream.close();
  }
}

/** The body of an answer that has to be a success. */
export function ok(answer: Answer): Body {
  if (answer.status < 200 || answer.status > 299) throw new Error(`HTTP ${answer.status}: ${answer.text}`);
  return answer.body;
}

export function names(list: Body): string[] {
  return list.items.map(({ metadata }) => metadata.name);
}
