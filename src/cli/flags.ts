/** The options of each command, as commander passes them. */
import type { Codec } from '../index.ts';
import type { Rate } from './arguments.ts';
import type { OutputFormat } from './watch-printer.ts';

export interface WatchFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output?: Exclude<OutputFormat, 'table'>;
  readonly outputWatchEvents?: boolean;
  readonly threads?: number;
  readonly verbose?: boolean;
}

export interface ApiserverFlags {
  readonly port: number;
  readonly kubeconfigOut: string;
  readonly token?: string;
  readonly tls: boolean;
  readonly host: string;
  readonly allowRemote?: boolean;
  readonly pods?: number;
  readonly objectBytes: number;
  readonly rate?: Rate;
}

export interface DemoFlags {
  readonly json?: boolean;
  readonly pods: number;
  readonly objectBytes: number;
  readonly rate: number;
  readonly duration: number;
  readonly threads?: number;
  readonly codec: Codec;
}

export interface LoadTestFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly objects: number;
  readonly objectBytes: number;
  readonly rate: number;
  readonly duration: number;
  readonly informers: number;
  readonly threads?: number;
  readonly seed?: number;
  readonly json?: boolean;
  readonly yes?: boolean;
}
