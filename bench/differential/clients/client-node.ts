/**
 * The informer of `@kubernetes/client-node` for the differential table: `node client-node.js KUBECONFIG
 * [--restart]`. With `--restart` it is started again five seconds after an error, as in client-node's own
 * example. Without it, an error ends the informer.
 */
import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { answerRequests, say } from './lines.ts';

const RESTART_MS = 5_000;

const [, , path = '', mode] = process.argv;
const manifest = new URL('../package.json', import.meta.resolve('@kubernetes/client-node'));
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
say({ kind: 'client', client: 'client-node', version });

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(path);
const api = kubeConfig.makeApiClient(CoreV1Api);
const informer = makeInformer(kubeConfig, '/api/v1/pods', () => api.listPodForAllNamespaces());

function identity({ metadata }: V1Pod): { key: string; rv: string; uid: string } {
  const { namespace = '', name = '', resourceVersion: rv = '', uid = '' } = metadata ?? {};
  return { key: `${namespace}/${name}`, rv, uid };
}

informer.on('add', (pod) => say({ kind: 'add', ...identity(pod) }));
informer.on('update', (pod) => say({ kind: 'update', ...identity(pod) }));
informer.on('delete', (pod) => say({ kind: 'delete', ...identity(pod) }));
informer.on('error', (error: unknown) => {
  say({ kind: 'error', text: error instanceof Error ? error.message : String(error) });
  if (mode === '--restart') setTimeout(() => void informer.start(), RESTART_MS);
  else say({ kind: 'stopped' });
});
answerRequests(() =>
  Object.fromEntries(
    informer.list().map((pod) => {
      const { key, rv } = identity(pod);
      return [key, rv];
    }),
  ),
);
await informer.start();
say({ kind: 'synced' });
