/**
 * `kubeloom/partitions`: the processes of a program share the keys of their controllers. Each partition of the keys
 * belongs to a single owner at a time, decided on Leases.
 */
export { PartitionedManager } from './partitioned-manager.ts';
export type { PartitionedManagerOptions, PartitionControllers } from './partitioned-manager.ts';
export { PartitionGroup } from './partition-group.ts';
export type { PartitionGroupOptions } from './partition-group.ts';
export type { Tenure, WorkOnPartition } from './tenure.ts';
