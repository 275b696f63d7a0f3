/** The names that figures are published under. */

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

/** Of a rate more is better; of everything else less. */
export function isMoreBetter(unit: Unit): boolean {
  return unit === 'events/s';
}
