/** The names of published figures. */

export const SUITES = ['watch', 'sync', 'latency', 'memory', 'growth', 'readers', 'micro'] as const;
export type SuiteName = (typeof SUITES)[number];

export const CLIENTS = [
  'kubeloom',
  'limit',
  'client-node',
  'client-node-2',
  'kubernetes-fluent-client',
  'client-go',
  'kube-rs',
] as const;
export type ClientName = (typeof CLIENTS)[number];

export type Unit = 'events/s' | 'cpu-us/event' | 'ms' | 'bytes';

/** True when a larger figure is better: for rates. */
export function isMoreBetter(unit: Unit): boolean {
  return unit === 'events/s';
}
