/** What the scene of a case is made of. */
import type { InformerOptions, ThreadsOptions } from '../../src/index.ts';
import type { EmbeddedApiServerOptions } from '../../src/testing/index.ts';
import type { TlsFiles } from './chaos-protocol.ts';

/** Events per second: with less before the fault a case has shown nothing. */
export const LOAD_MIN = 100;

export interface SceneOptions {
  /** The number in the table of cases, and a letter where it has variants. */
  readonly id: string;
  readonly server?: EmbeddedApiServerOptions;
  readonly informer?: InformerOptions<unknown>;
  /** Whether the oracle compares the objects' bodies. Default true. */
  readonly hasBodies?: boolean;
  /** Threads of its own; else it shares them with other cases. */
  readonly threads?: ThreadsOptions;
  /** Objects before the start. Default 200. */
  readonly objects?: number;
  /** Informer and server talk through a chaos proxy. */
  readonly hasProxy?: boolean;
  /** What it shows at first, and the CA that the informer's kubeconfig names. */
  readonly proxyTls?: TlsFiles & { readonly ca: string };
  /** The case itself starts the informer. */
  readonly isStartedLater?: boolean;
  /** Events per second before and during the fault. Default 250. */
  readonly rate?: number;
}
