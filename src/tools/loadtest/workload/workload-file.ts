/** The content of a workload file, checked with `workload.schema.json` and completed with the defaults. */
import type { ListMode, Load, Mix, ObjectKind, WatcherClient } from './workload.ts';

export interface WorkloadFile {
  readonly name?: string;
  readonly seed?: number;
  readonly objects: readonly {
    readonly kind: ObjectKind;
    readonly count: number;
    readonly namespaces: number;
    readonly size: FileSize;
    readonly shape?: 'realistic';
    readonly labels: Readonly<Record<string, readonly string[]>>;
  }[];
  readonly watchers: readonly {
    readonly name: string;
    readonly client: WatcherClient;
    readonly of?: ObjectKind;
    readonly count: number;
    readonly processes: number;
    readonly threads: number;
    readonly list: ListMode;
    readonly selector: string;
    readonly perNamespace: boolean;
    readonly slow?: FileSlowness;
    readonly reconnect?: { readonly every: string };
  }[];
  readonly phases: readonly FilePhase[];
  readonly thresholds: readonly string[];
  readonly limits: { readonly objects: number; readonly rate: number };
}

export type FileBytes = string | number;

export type FileSize =
  | FileBytes
  | {
      readonly distribution: 'uniform' | 'lognormal';
      readonly min?: FileBytes;
      readonly max?: FileBytes;
      readonly p50?: FileBytes;
      readonly p99?: FileBytes;
    };

/** Exactly one member is set. */
export interface FileSlowness {
  readonly handler?: string;
  readonly socket?: FileBytes;
}

export interface FileLoad {
  readonly name?: string;
  readonly for: string;
  readonly rate?: number | { readonly from: number; readonly to: number };
  readonly arrival: Load['arrival'];
  readonly mix: Partial<Mix>;
  readonly kinds?: readonly ObjectKind[];
}

/** Exactly one member is set. */
export interface FilePhase {
  readonly create?: {
    readonly name?: string;
    readonly kinds?: readonly ObjectKind[];
    readonly rate?: number;
  };
  readonly sync?: { readonly name?: string; readonly watchers?: readonly string[]; readonly timeout: string };
  readonly steady?: FileLoad;
  readonly 'relist-storm'?: FileLoad & { readonly every: string; readonly watchers?: readonly string[] };
  readonly 'slow-consumer'?: FileLoad & {
    readonly slow: FileSlowness;
    readonly watchers?: readonly string[];
  };
  readonly 'server-restart'?: FileLoad & { readonly command: readonly string[] };
  readonly pause?: { readonly name?: string; readonly for: string };
}
