/** Scene of a case with real time: an apiserver in a separate thread or process, sockets, and an informer on real threads. */
import type { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads } from '../../src/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { HANG_MS } from '../kit/hang.ts';
import { until } from '../kit/until.ts';
import { CaseScene } from '../sim/faults/case-scene.ts';
import type { SceneParts } from '../sim/faults/case-scene.ts';
import type { FaultCase } from '../sim/faults/fault-case.ts';
import { ChaosProxy } from './chaos-proxy.ts';
import type { TlsFiles } from './chaos-proxy-process.ts';

const FLOOD_MS = 600_000;

/** A case that the simulator cannot run. */
export interface RealCase extends FaultCase<Scene> {
  /** Part of the real world that the case needs. */
  readonly place: 'sockets' | 'threads' | 'process';
  /** Whether informer and server communicate through a chaos proxy. */
  readonly hasProxy?: boolean;
  /** The proxy's first certificate, and the CA in the informer's kubeconfig. */
  readonly proxyTls?: TlsFiles & { readonly ca: string };
}

export class Scene extends CaseScene {
  readonly #proxy: ChaosProxy | undefined;

  private constructor(fault: RealCase, parts: SceneParts, proxy: ChaosProxy | undefined) {
    super(fault, parts);
    this.#proxy = proxy;
  }

  static async start(fault: RealCase): Promise<Scene> {
    const server = await startEmbeddedApiServer({ tls: false, ...fault.server });
    const proxy = fault.hasProxy ? await ChaosProxy.start(server.port, fault.proxyTls) : undefined;
    // A thread that waits for a core of a busy machine is no fault.
    const threads = new InformerThreads({ indexerThreads: 2, stallTimeoutMs: HANG_MS, ...fault.threads });
    const scene = new Scene(fault, { server, threads, url: proxy?.url }, proxy);
    if (fault.proxyTls) scene.trust({ caData: Buffer.from(fault.proxyTls.ca).toString('base64') });
    await scene.begin();
    return scene;
  }

  get proxy(): ChaosProxy {
    if (!this.#proxy) throw new Error('this case has no proxy');
    return this.#proxy;
  }

  override get strikes(): readonly string[] {
    return [...this.own, ...(this.#proxy?.landed ?? [])];
  }

  /** Sets the CA of the informer's cluster: `caData` or `caFile`. */
  trust(ca: object): void {
    const source = this.informer.source as KubeConfig;
    source.clusters = source.clusters.map(({ name, server }) => ({
      name,
      server,
      skipTLSVerify: false,
      ...ca,
    }));
  }

  until(isDone: () => boolean | Promise<boolean>, what: string): Promise<void> {
    return until(isDone, what);
  }

  later(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Writes to all objects, as fast as the slowest watch reads. */
  flood(): void {
    this.stopLoad();
    this.server.load({ rate: 'max', durationMs: FLOOD_MS, objectBytes: 700 }).catch(() => undefined);
  }

  override stopLoad(): void {
    super.stopLoad();
    this.server.stopLoad().catch(() => undefined);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.threads.close();
    await this.#proxy?.[Symbol.asyncDispose]();
    await this.server.close();
  }
}
