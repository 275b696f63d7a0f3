/** Options of a case's scene. */
import type { InformerOptions, ThreadsOptions } from '../../src/index.ts';
import type { EmbeddedApiServerOptions } from '../../src/tools/apiserver/testing/index.ts';
import type { TlsFiles } from './chaos-proxy-process.ts';

/** Events per second that a case needs before the fault to be valid. */
export const LOAD_MIN = 100;

export interface SceneOptions {
  /** Number in the table of cases, with a letter for a variant. */
  readonly id: string;
  readonly server?: EmbeddedApiServerOptions;
  readonly informer?: InformerOptions<unknown>;
  /** Whether the oracle compares the objects' bodies. Default true. */
  readonly hasBodies?: boolean;
  /** Options of separate threads; by default a case shares threads with other cases. */
  readonly threads?: ThreadsOptions;
  /** Number of objects before the start. Default 200. */
  readonly objects?: number;
  /** Whether informer and server communicate through a chaos proxy. */
  readonly hasProxy?: boolean;
  /** The proxy's first certificate, and the CA in the informer's kubeconfig. */
  readonly proxyTls?: TlsFiles & { readonly ca: string };
  /** Whether the case itself starts the informer. */
  readonly isStartedLater?: boolean;
  /** Events per second before and during the fault. Default 250. */
  readonly rate?: number;
}
