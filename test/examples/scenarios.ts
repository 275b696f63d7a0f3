/**
 * The changes that a user would make with kubectl while an example runs. Each waits for what the example prints about
 * the one before, so that the output is always the same. Examples that are not here make their changes themselves.
 */
import assert from 'node:assert/strict';
import type { KubeConfig } from '@kubernetes/client-node';
import { backups } from '../../docs/examples/backup-operator/backup.ts';
import { ObjectClient } from '../../src/controller/index.ts';
import { resources } from '../../src/index.ts';
import type { KubeloomError, ResourceOf, ServerSource, WireOf } from '../../src/index.ts';
import type { Program } from './program.ts';
import { SampleControllerScenario, obstruct } from './sample-controller-scenario.ts';

export interface Scenario {
  /** Makes what is there when the program starts. */
  prepare?(kubeConfig: KubeConfig): Promise<void>;
  play(kubeConfig: KubeConfig, program: Program): Promise<void>;
}

const namespace = 'default';

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'sample-controller': {
    prepare: obstruct,
    play: (kubeConfig, program) => new SampleControllerScenario(kubeConfig, program).play(),
  },
  'crd-operator': { play: changeBuckets },
  'backup-operator': { play: (kubeConfig, program) => changeBackups(kubeConfig, program) },
  'config-reloader': { play: changeConfigMaps },
};

async function changeBuckets(kubeConfig: KubeConfig, program: Program): Promise<void> {
  const buckets: ResourceOf<object> = {
    group: 'storage.example.com',
    version: 'v1',
    resource: 'buckets',
    kind: 'Bucket',
    isNamespaced: true,
  };
  const client = new ObjectClient(kubeConfig);
  const key = { namespace, name: 'photos' };
  await program.printed('Waiting for Buckets');
  await client.create(buckets, { metadata: key, spec: {} });
  await program.printed('default/photos: Ready is True, 10 GiB');
  await client.patch(buckets, key, { spec: { gibibytes: 20 } });
  await program.printed('default/photos: Ready is True, 20 GiB');
  await client.delete(buckets, key);
  await program.printed('default/photos: gone');
}

export async function changeBackups(
  source: ServerSource,
  program: Program,
  inNamespace: string = namespace,
): Promise<void> {
  const client = new ObjectClient(source);
  const { cronJobs } = resources.batch.v1;
  const key = { namespace: inNamespace, name: 'photos' };
  await program.printed('Waiting for Backups');
  await client.create(backups, { metadata: key, spec: { schedule: '0 3 * * *', claimName: 'photos' } });
  await until(async () => (await client.get(backups, key)).status?.conditions?.[0]?.status === 'True');
  await client.patch(backups, key, { spec: { suspend: true } });
  await until(async () => (await client.get(backups, key)).status?.conditions?.[0]?.status === 'False');
  assert.equal((await client.get(cronJobs, key)).spec?.suspend, true);
  await client.delete(backups, key);
  await program.printed(`${inNamespace}/photos: deleted its copies`);
  const isGone = ({ code }: KubeloomError): boolean => code === 'ERR_KUBELOOM_NOT_FOUND';
  await until(() => client.get(backups, key).then(() => false, isGone));
}

/** Asks until the answer is yes: the next request follows the answer. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone()));
}

async function changeConfigMaps(kubeConfig: KubeConfig, program: Program): Promise<void> {
  const { configMaps } = resources.core.v1;
  const { deployments } = resources.apps.v1;
  const client = new ObjectClient(kubeConfig);
  const settings = { namespace, name: 'settings' };
  await program.printed('Waiting for changes of ConfigMaps');
  await client.create(deployments, deploymentOf('other', {}));
  await client.create(deployments, deploymentOf('web', { reload: 'yes' }));
  await client.create(configMaps, { metadata: settings, data: { color: 'red' } });
  await program.printed('default/web: restarted with [{"color":"red"}]');
  await client.patch(configMaps, settings, { metadata: { labels: { tier: 'front' } } });
  await client.patch(configMaps, settings, { data: { color: 'blue' } });
  await program.printed('default/web: restarted with [{"color":"blue"}]');
}

/** A Deployment whose pods have the ConfigMap `settings` as their environment. */
function deploymentOf(name: string, labels: Record<string, string>): WireOf<'apps', 'v1', 'Deployment'> {
  const ownLabels = { app: name };
  const containers = [{ name: 'main', image: 'nginx', envFrom: [{ configMapRef: { name: 'settings' } }] }];
  return {
    metadata: { namespace, name, labels },
    spec: {
      selector: { matchLabels: ownLabels },
      template: { metadata: { labels: ownLabels }, spec: { containers } },
    },
  };
}
