/** The names of published figures. */

export const SUITES = [
  'programs',
  'watch',
  'sizes',
  'sync',
  'latency',
  'memory',
  'growth',
  'readers',
  'micro',
  'metrics',
  'rest',
  'start',
  'small',
  'threads',
] as const;
export type SuiteName = (typeof SUITES)[number];

export const CLIENTS = [
  'kubeloom',
  'kubeloom-lts',
  'limit',
  'client-node',
  'client-node-2',
  'kubernetes-fluent-client',
  'client-go',
  'client-go-protobuf',
  'kube-rs',
] as const;
export type ClientName = (typeof CLIENTS)[number];

/** The JavaScript clients that run on the same Node as kubeloom does in a row: a ratio of two Nodes would measure V8. */
export const SAME_NODE: Readonly<Partial<Record<ClientName, readonly ClientName[]>>> = {
  kubeloom: ['client-node'],
  'kubeloom-lts': ['client-node-2', 'kubernetes-fluent-client'],
};

/** The clients in other languages. */
export const COMPILED: readonly ClientName[] = ['client-go', 'client-go-protobuf', 'kube-rs'];

/** `ratio`: of a figure to the same figure in the variant beside it. */
export type Unit = 'events/s' | 'cpu-us/event' | 'cpu-ms/s' | 'wake-ups/s' | 'ms' | 'bytes' | 'ratio';

/** True when a larger figure is better: for rates. */
export function isMoreBetter(unit: Unit): boolean {
  return unit === 'events/s';
}
