/** kubeloom's informer for the differential table: `node kubeloom.js KUBECONFIG`. */
import { readFileSync } from 'node:fs';
import { SharedIndexInformer, loadKubeConfig, resources } from '../../../src/index.ts';
import { answerRequests, say } from './lines.ts';
import type { Identity } from './lines.ts';

const [, , path = ''] = process.argv;
const manifest = new URL('../../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
say({ kind: 'client', client: 'kubeloom', version });

const informer = new SharedIndexInformer(loadKubeConfig({ path }), resources.core.v1.pods, {
  onError: (error) => say({ kind: 'error', text: error.message }),
});

function identity(pod: { key: string; resourceVersion: string; uid: string }): Identity {
  return { key: pod.key, rv: pod.resourceVersion, uid: pod.uid };
}

const registration = informer.addEventHandler({
  onAdd: (pod) => say({ kind: 'add', ...identity(pod) }),
  onUpdate: (_, pod) => say({ kind: 'update', ...identity(pod) }),
  onDelete: (pod) => {
    if (!pod.finalStateUnknown) say({ kind: 'delete', ...identity(pod) });
    else say({ kind: 'delete', ...identity(pod.last), unknown: true });
  },
});
answerRequests(() => informer.getIndexer().list().map(identity));
informer.run().then(
  () => say({ kind: 'stopped' }),
  (error: unknown) => {
    say({ kind: 'error', text: String(error) });
    say({ kind: 'stopped' });
  },
);
await informer.waitForSync(undefined, registration);
say({ kind: 'synced' });
