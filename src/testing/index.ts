/**
 * `kubeloom/testing`: what tests of controllers need, and what kubeloom's own tests use.
 *
 *   - a Kubernetes API server in this process, in a thread or beside it;
 *   - a fake controller source, when a server is more than is needed;
 *   - time and chance that do what they are told;
 *   - `settled`: waits until everything that was sent has arrived, and every handler is done with it.
 */

export { startEmbeddedApiServer } from '../embedded/start.ts';
export type { EmbeddedApiServerOptions } from '../embedded/start.ts';
export { EmbeddedApiServer } from '../embedded/embedded-server.ts';
export type { ApplyResult, Change, ObjectLike } from '../embedded/control.ts';
export type { FaultMatch, FaultRule, RequestRecord } from '../embedded/faults.ts';
export type { FaultPortAddress } from '../embedded/fault-port.ts';
export type {
  FaultAction,
  FaultScenario,
  LandedFault,
  ScenarioMatch,
  ScenarioRule,
} from '../embedded/fault-rules.ts';
export { JournalView } from '../embedded/journal.ts';
export type { JournalEntry } from '../embedded/journal.ts';
export type { ChangeType } from '../embedded/history.ts';
export type { KubeConfigObject } from '../embedded/kubeconfig.ts';
export type { LoadOptions, LoadReport, PopulateOptions } from '../embedded/load.ts';
export { startHighRateSource } from '../embedded/source.ts';
export type { HighRateSource, HighRateSourceOptions } from '../embedded/source.ts';
export type { SourceOptions } from '../embedded/source-server.ts';
export { STAMP_ANNOTATION } from '../embedded/load-template.ts';
export type { ApiServerOptions } from '../embedded/options.ts';
export type { ResourceDefinition } from '../embedded/resources.ts';
export type { DropMode, WatchInfo } from '../embedded/watches.ts';

export { FakeControllerSource } from './fake-controller-source.ts';
export type { FakeControllerSourceOptions, FakeObject, FakeRequest } from './fake-controller-source.ts';
export { FakeClock } from './fake-clock.ts';
export { seededRandom } from '../embedded/random.ts';
export { settled } from './settled.ts';
export type { Settleable, SettledOptions, SettledThing } from './settled.ts';
