/** The start of a process with a small informer, over TLS. client-node offers no connection object. */
import type { BenchCase, Goal } from '../case.ts';
import { atMost, each, still } from './common.ts';

const OBJECTS = 100;
const RESIDENT = atMost(95_000_000, 'bytes', 'rss');

function start(
  name: string,
  connection: boolean,
  clients: BenchCase['clients'],
  goals: readonly Goal[],
): BenchCase {
  const source = { ...still(OBJECTS), tls: true };
  return {
    suite: 'start',
    name,
    tier: 'default',
    source,
    task: { case: 'start', handler: 'key', connection },
    clients,
    goals,
  };
}

const CLIENTS = ['kubeloom', 'kubeloom-lts', 'client-node', 'client-node-2'] as const;

export const START_CASES: readonly BenchCase[] = [
  start('100 pods, kubeconfig', false, each(CLIENTS, 0), [RESIDENT]),
  start('100 pods, connection', true, each(['kubeloom'], 0), [RESIDENT, atMost(150, 'ms', 'import')]),
];
