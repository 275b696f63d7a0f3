/**
 * The informer of `@kubernetes/client-node` for the differential table: `node client-node.js [--restart]
 * KUBECONFIG`. With `--restart` it is started again five seconds after an error, as in client-node's own
 * example. Without it, an error ends the informer.
 */
import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { answerRequests, say } from './lines.ts';
import type { Identity } from './lines.ts';

const RESTART_MS = 5_000;

const path = process.argv.at(-1) ?? '';
const isRestarted = process.argv.includes('--restart');
const manifest = new URL('../package.json', import.meta.resolve('@kubernetes/client-node'));
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
say({ kind: 'client', client: 'client-node', version });

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(path);
const api = kubeConfig.makeApiClient(CoreV1Api);
const informer = makeInformer(kubeConfig, '/api/v1/pods', () => api.listPodForAllNamespaces());

function identity({ metadata }: V1Pod): Identity {
  const { namespace = '', name = '', resourceVersion: rv = '', uid = '' } = metadata ?? {};
  return { key: `${namespace}/${name}`, rv, uid };
}

informer.on('add', (pod) => say({ kind: 'add', ...identity(pod) }));
informer.on('update', (pod) => say({ kind: 'update', ...identity(pod) }));
informer.on('delete', (pod) => say({ kind: 'delete', ...identity(pod) }));
informer.on('error', (error: unknown) => {
  say({ kind: 'error', text: error instanceof Error ? error.message : String(error) });
  if (isRestarted) setTimeout(() => void informer.start(), RESTART_MS);
  else say({ kind: 'stopped' });
});
answerRequests(() => informer.list().map(identity));
await informer.start();
say({ kind: 'synced' });
