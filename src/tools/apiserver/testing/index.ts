/**
 * `kubeloom/testing`: tools for tests of controllers, also used by kubeloom's own tests.
 *
 * - a Kubernetes API server in the calling thread, in a worker thread or in a process;
 * - a fake controller source, for tests that need no server;
 * - a clock and random numbers that tests control;
 * - `settled`: waits until all writes are delivered, handled and reconciled.
 */

export { startEmbeddedApiServer } from '../run/start.ts';
export type { EmbeddedApiServerOptions } from '../run/start.ts';
export type { EmbeddedApiServer } from '../run/embedded-server.ts';
export type { ApplyResult, Change, ObjectLike } from '../run/api-server.ts';
export type { FaultPortAddress } from '../faults/fault-port.ts';
export type {
  FaultAction,
  FaultScenario,
  LandedFault,
  ScenarioMatch,
  ScenarioRule,
} from '../faults/fault-rules.ts';
export type { JournalEntry, JournalView } from '../store/journal.ts';
export type { ChangeType } from '../store/history.ts';
export type { KubeConfigObject } from '../wire/kubeconfig.ts';
export type { LoadOptions, LoadReport, PopulateOptions } from '../load/load.ts';
export { STAMP_ANNOTATION } from '../load/load-template.ts';
export type { ApiServerOptions } from '../store/server-options.ts';
export type { RbacOptions } from '../wire/rights.ts';
export type { RequestRecord } from '../wire/request-log.ts';
export type { ResourceDefinition } from '../store/resources.ts';
export type { DropMode, WatchInfo } from '../serve/watches.ts';

export { FakeControllerSource } from './fake-controller-source.ts';
export type { FakeControllerSourceOptions, FakeObject, FakeRequest } from './fake-controller-source.ts';
export { FakeClock } from './fake-clock.ts';
export { seededRandom } from '../../../base/random.ts';
export { settled } from './settled.ts';
export type {
  Settleable,
  SettleableParts,
  SettleableQueue,
  SettledOptions,
  SettledThing,
} from './settled.ts';
