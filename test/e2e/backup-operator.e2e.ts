/**
 * The operator of docs/operator.md on a real kube-apiserver: its manifests are applied with strict validation, and the program
 * runs with the rights of its ServiceAccount and no others.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { loadAll } from 'js-yaml';
import { ObjectClient } from '../../src/controller/index.ts';
import { resources } from '../../src/index.ts';
import type { ResourceOf } from '../../src/index.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { FOLDER, expectedOutput } from '../examples/repository.ts';
import { Program } from '../examples/program.ts';
import { SCENARIOS } from '../examples/scenarios.ts';
import { complaint } from '../examples/verdict.ts';
import { clusterOfTests } from './control-plane.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

async function manifests(file: string): Promise<readonly Manifest[]> {
  return loadAll(await readFile(join(FOLDER, file), 'utf8')) as Manifest[];
}

function resourceOf({ apiVersion, kind, metadata }: Manifest): ResourceOf<Manifest> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const isNamespaced = metadata.namespace !== undefined;
  return { group, version, resource: `${kind.toLowerCase()}s`, kind, isNamespaced };
}

describe('the operator of docs/operator.md on a real kube-apiserver', () => {
  const cluster = clusterOfTests();
  let client: ObjectClient;

  before(() => {
    client = new ObjectClient(cluster().kubeConfig, { fieldManager: 'e2e' });
  });

  test('has manifests that the server accepts without a warning', async () => {
    const warnings: string[] = [];
    const strict = new ObjectClient(cluster().kubeConfig, {
      fieldManager: 'e2e',
      onWarning: (text) => void warnings.push(text),
    });
    for (const file of ['backup-crd.yaml', 'backup-operator/deployment.yaml'])
      for (const manifest of await manifests(file))
        await strict.apply(resourceOf(manifest), manifest, { fieldValidation: 'Strict' });
    assert.deepEqual(warnings, []);
  });

  test('does its work with the rights of its ServiceAccount', async () => {
    const { controlPlane, kubeConfig, users } = cluster();
    const { serviceAccounts } = resources.core.v1;
    const key = { namespace: 'default', name: 'backup-operator' };
    const { status } = await client.create(
      serviceAccounts,
      { metadata: key, spec: { audiences: [], expirationSeconds: 3600 } },
      { subresource: 'token' },
    );
    await using folder = new TemporaryFolder();
    const yaml = await readFile(controlPlane.kubeconfigPath, 'utf8');
    const own = yaml.replaceAll(controlPlane.token, status?.token ?? '');
    const program = new Program('backup-operator', folder.write('kubeconfig', own, 0o600));
    users.push(program);
    await SCENARIOS['backup-operator']?.play(kubeConfig, program);
    program.stop('SIGTERM');
    const outcome = await program.outcome;
    assert.equal(complaint(await expectedOutput('backup-operator'), outcome), undefined);
    assert.doesNotMatch(outcome.stderr, /FORBIDDEN/);
  });
});
