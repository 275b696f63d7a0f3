/** The start of a process with one small informer, over TLS. client-node has no connection object. */
import type { BenchCase } from '../case.ts';
import { each, still } from './common.ts';

const OBJECTS = 100;

function start(name: string, connection: boolean, clients: BenchCase['clients']): BenchCase {
  const source = { ...still(OBJECTS), tls: true };
  return {
    suite: 'start',
    name,
    tier: 'default',
    source,
    task: { case: 'start', handler: 'key', connection },
    clients,
  };
}

export const START_CASES: readonly BenchCase[] = [
  start('100 pods, kubeconfig', false, each(['kubeloom', 'client-node', 'client-node-2'], 0)),
  start('100 pods, connection', true, each(['kubeloom'], 0)),
];
