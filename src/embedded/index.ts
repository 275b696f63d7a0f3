/**
 * The embedded apiserver, exported as `kubeloom/testing`: a Kubernetes API server for tests, demos and benchmarks.
 *
 *   HTTP ─► router ─► verbs ─► writer ──► event log ──► collection (objects, history, snapshots) ──► watches ─► HTTP
 *                       └──── list ◄─────────────────────────┘
 *   control API ─► api-server ─► the same log
 */

export { startEmbeddedApiServer } from './start.ts';
export type { EmbeddedApiServerOptions } from './start.ts';
export { EmbeddedApiServer } from './embedded-server.ts';
export type { ApplyResult, Change, ObjectLike } from './control.ts';
export type { FaultMatch, FaultRule, RequestRecord } from './faults.ts';
export { JournalView } from './journal.ts';
export type { JournalEntry } from './journal.ts';
export type { ChangeType } from './history.ts';
export type { KubeConfigObject } from './kubeconfig.ts';
export type { LoadOptions, LoadReport, PopulateOptions } from './load.ts';
export { startHighRateSource } from './source.ts';
export type { HighRateSource, HighRateSourceOptions } from './source.ts';
export type { SourceOptions } from './source-server.ts';
export { STAMP_ANNOTATION } from './load-template.ts';
export type { ApiServerOptions } from './options.ts';
export type { ResourceDefinition } from './resources.ts';
export type { DropMode, WatchInfo } from './watches.ts';
