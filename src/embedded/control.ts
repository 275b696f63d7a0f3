/**
 * The control API: what a test, a demo or a benchmark may ask of the server beside HTTP. The same interface is
 * implemented inside the server and, across a thread or process boundary, by `EmbeddedApiServer`.
 */

import type { FaultPortAddress } from './fault-port.ts';
import type { FaultScenario, LandedFault } from './fault-rules.ts';
import type { FaultRule, RequestRecord } from './faults.ts';
import type { JournalColumns } from './journal.ts';
import type { LoadOptions, LoadReport, PopulateOptions } from './load.ts';
import type { ResourceDefinition } from './resources.ts';
import type { DropMode, WatchInfo } from './watches.ts';

/** Any object with metadata: the types of client-node fit as well as literals. */
export interface ObjectLike {
  readonly metadata?:
    | { readonly name?: string | undefined; readonly namespace?: string | undefined }
    | undefined;
}

/** `put` creates or replaces. Resources are named as for kubectl: `pods`, `deployments.apps`. */
export type Change =
  | { readonly type: 'create' | 'update' | 'put'; readonly resource: string; readonly object: ObjectLike }
  | {
      readonly type: 'delete';
      readonly resource: string;
      readonly namespace?: string;
      readonly name: string;
    };

export interface ApplyResult {
  /** Of the log after the last change. */
  readonly revision: number;
  /** Of each change, in order. */
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
  failNext(rule: FaultRule): void;
  clearFaults(): void;
  setFaults(scenario: FaultScenario): void;
  healFaults(faultId?: string): void;
  landedFaults(): LandedFault[];
  openFaultPort(): Promise<FaultPortAddress>;
  requests(): RequestRecord[];
  clearRequests(): void;
  close(): Promise<void>;
}
