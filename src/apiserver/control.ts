/**
 * The control API: requests of tests, demos and benchmarks to the server that do not go through HTTP. The
 * server implements it, and `EmbeddedApiServer` implements it across a thread or process boundary.
 */

import type { FaultPortAddress } from './fault-port.ts';
import type { FaultScenario, LandedFault } from './fault-rules.ts';
import type { JournalColumns } from './journal.ts';
import type { LoadOptions, LoadReport, PopulateOptions } from './load.ts';
import type { RequestRecord } from './request-log.ts';
import type { ResourceDefinition } from './resources.ts';
import type { DropMode, WatchInfo } from './watches.ts';

/** Any object with metadata: types of client-node and literals. */
export interface ObjectLike {
  readonly metadata?:
    | { readonly name?: string | undefined; readonly namespace?: string | undefined }
    | undefined;
}

/** One change; `put` creates or replaces. Resources have kubectl's names: `pods`, `deployments.apps`. */
export type Change =
  | { readonly type: 'create' | 'update' | 'put'; readonly resource: string; readonly object: ObjectLike }
  | {
      readonly type: 'delete';
      readonly resource: string;
      readonly namespace?: string;
      readonly name: string;
    };

export interface ApplyResult {
  /** Revision of the log after the last change. */
  readonly revision: number;
  /** The resourceVersion of each change, in order. */
  readonly resourceVersions: readonly string[];
}

export interface ServerControl {
  registerResource(definition: ResourceDefinition): void;
  apply(changes: readonly Change[]): ApplyResult;
  populate(options: PopulateOptions): number;
  load(options: LoadOptions): Promise<LoadReport>;
  loadIssued(): number;
  stopLoad(): void;
  revision(): number;
  journal(resource: string, fromRevision: number): JournalColumns;
  state(resource: string): Map<string, string>;
  compact(revision?: number): number;
  watches(): WatchInfo[];
  waitForWatches(count: number): Promise<void>;
  sendBookmarks(): number;
  dropWatches(how: DropMode): number;
  expireWatches(): number;
  restart(downMs: number): Promise<void>;
  setFaults(scenario: FaultScenario): void;
  healFaults(faultId?: string): void;
  landedFaults(): LandedFault[];
  openFaultPort(): Promise<FaultPortAddress>;
  requests(): RequestRecord[];
  clearRequests(): void;
  close(): Promise<void>;
}
