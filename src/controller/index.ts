/** `kubeloom/controller`: controllers on informers and work queues, and the client with which they write. */
export { ObjectClient } from './object-client.ts';
export type { DeleteOptions, RequestOptions, Sent } from './object-client.ts';

export { LeaderElector } from './leader-election/leader-elector.ts';
export type {
  ElectionOptions,
  LeaderElectorOptions,
  LeaseOptions,
} from './leader-election/leader-elector.ts';
export type { OnLeading } from './leader-election/election.ts';
export type { LeaderElectionRecord, ResourceLock, StoredRecord } from './leader-election/resource-lock.ts';
