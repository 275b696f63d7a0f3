/** A server with a seeded load, and one client that watches it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer, LoadReport } from '../../src/apiserver/testing/index.ts';
import { ClientProcess } from './client-process.ts';

export const LOAD_RATE = 150;
/** A run with a lower rate is invalid. */
export const LOAD_RATE_MIN = 100;
const PODS = 500;
/** Longer than any run, which stops the load. */
const LOAD_MS = 600_000;

export class Scene implements AsyncDisposable {
  readonly seed: number;
  readonly server: EmbeddedApiServer;
  readonly client: ClientProcess;
  readonly #folder: string;
  #load: Promise<LoadReport> | undefined;

  private constructor(seed: number, server: EmbeddedApiServer, client: ClientProcess, folder: string) {
    this.seed = seed;
    this.server = server;
    this.client = client;
    this.#folder = folder;
  }

  static async set(seed: number, command: readonly string[]): Promise<Scene> {
    const server = await startEmbeddedApiServer({ isolation: 'process' });
    await server.populate({ count: PODS });
    const folder = await mkdtemp(join(tmpdir(), 'differential-'));
    const path = join(folder, 'kubeconfig');
    await writeFile(path, server.kubeConfigYaml);
    return new Scene(seed, server, new ClientProcess([...command, path]), folder);
  }

  /** Starts updates, creations and deletions, until `stopLoad`. */
  startLoad(): void {
    const mix = { update: 0.8, create: 0.1, delete: 0.1 };
    const options = { resource: 'pods', rate: LOAD_RATE, durationMs: LOAD_MS, mix, seed: this.seed };
    this.#load = this.server.load(options);
  }

  async stopLoad(): Promise<LoadReport | undefined> {
    await this.server.stopLoad();
    return this.#load;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end();
    await this.server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
