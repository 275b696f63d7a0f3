/** The load test's own namespace, which is deleted with all its objects, even after a failure. */
import { randomBytes } from 'node:crypto';
import type { ConnectionOptions } from '../shared/protocol.ts';
import { ApiWriter } from './api-write.ts';
import { LABEL, LABEL_VALUE } from './loadtest-plan.ts';

const NAMESPACES = '/api/v1/namespaces';

export class LoadTestNamespace implements AsyncDisposable {
  readonly name: string;
  readonly #api: ApiWriter;
  readonly #say: (line: string) => void;

  private constructor(name: string, api: ApiWriter, say: (line: string) => void) {
    this.name = name;
    this.#api = api;
    this.#say = say;
  }

  /** @param say called with the remaining objects when the server refuses the deletion */
  static async create(
    connection: ConnectionOptions,
    say: (line: string) => void,
  ): Promise<LoadTestNamespace> {
    const api = new ApiWriter(connection);
    const name = `${LABEL_VALUE}-${randomBytes(4).toString('hex')}`;
    const metadata = { name, labels: { [LABEL]: LABEL_VALUE } };
    try {
      await api.send('POST', NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    } catch (error) {
      api[Symbol.dispose]();
      throw error;
    }
    return new LoadTestNamespace(name, api, say);
  }

  /** Deletes the objects first: a cluster without a namespace controller would keep them. */
  async [Symbol.asyncDispose](): Promise<void> {
    const path = `${NAMESPACES}/${this.name}`;
    try {
      const selector = encodeURIComponent(`${LABEL}=${LABEL_VALUE}`);
      await this.#api.send('DELETE', `${path}/configmaps?labelSelector=${selector}`);
      await this.#api.send('DELETE', path);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#say(`namespace ${this.name} could not be deleted; delete it by hand: ${why}`);
    } finally {
      this.#api[Symbol.dispose]();
    }
  }
}
