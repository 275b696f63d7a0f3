/** The latency from a write to the handler: ten probes a second, each with its due time in a label. */
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';

const INTERVAL_MS = 100;
const LABEL = 'probe-due-us';
const NAME = 'soak-probe';
const NAMESPACE = 'default';
/** Time after a fault in which its effects last. */
const SHADOW_MS = 5000;

export class Probes {
  readonly latencies: number[] = [];
  readonly #server: EmbeddedApiServer;
  readonly #timer: NodeJS.Timeout;
  #shadedUntil = 0;
  #isStruck = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(server: EmbeddedApiServer) {
    this.#server = server;
    this.#timer = setInterval(() => {
      this.#writing = this.#write();
    }, INTERVAL_MS);
  }

  /** Records a notification; the handler calls it. */
  received(key: string, labels: Readonly<Record<string, string>>): void {
    if (key !== `${NAMESPACE}/${NAME}`) return;
    const due = Number(labels[LABEL]) / 1000;
    const now = performance.now();
    if (!this.#isStruck && due > this.#shadedUntil) this.latencies.push(now - due);
  }

  /** Ignores probes from now until the fault's effects have ended. */
  struck(): void {
    this.#isStruck = true;
  }

  healed(): void {
    this.#isStruck = false;
    this.#shadedUntil = performance.now() + SHADOW_MS;
  }

  /** Resolves when the last probe is written. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  async #write(): Promise<void> {
    const labels = { [LABEL]: String(Math.round(performance.now() * 1000)) };
    const metadata = { name: NAME, namespace: NAMESPACE, labels };
    const spec = { containers: [{ name: 'main', image: 'registry/app:1' }] };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    await this.#server.apply([{ type: 'put', resource: 'pods', object }]);
  }
}
