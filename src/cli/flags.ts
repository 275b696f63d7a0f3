/** What each command was told, as commander hands it over. */
import type { Codec } from '../options.ts';
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
  readonly objectBytes?: number;
  readonly rate: Rate;
  readonly duration: number;
  readonly threads?: number;
  readonly codec: Codec;
  readonly compare?: boolean;
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
  readonly json?: boolean;
  readonly yes?: boolean;
}
