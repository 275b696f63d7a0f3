/**
 * The operator of docs/operator.md on a real kube-apiserver: its manifests are applied with strict validation, and the program
 * runs with the rights of its ServiceAccount, or with those that the embedded apiserver prints, and no others.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { loadAll } from 'js-yaml';
import { ObjectClient } from '../../src/controller/index.ts';
import { resources } from '../../src/index.ts';
import type { ResourceOf } from '../../src/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { FOLDER, expectedOutput } from '../examples/repository.ts';
import { Program } from '../examples/program.ts';
import { SCENARIOS, changeBackups } from '../examples/scenarios.ts';
import { complaint } from '../examples/verdict.ts';
import { clusterOfTests } from './control-plane.ts';

const { serviceAccounts } = resources.core.v1;
const ACCOUNT = { namespace: 'default', name: 'backup-operator' };

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
  // Owner references need the right to the owner's finalizers, as in OpenShift.
  const cluster = clusterOfTests({
    apiServerFlags: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
  });
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
    const { kubeConfig, users } = cluster();
    await using folder = new TemporaryFolder();
    const program = new Program(
      'backup-operator',
      folder.write('kubeconfig', await kubeconfigOf(ACCOUNT), 0o600),
    );
    users.push(program);
    await SCENARIOS['backup-operator']?.play(kubeConfig, program);
    program.stop('SIGTERM');
    const outcome = await program.outcome;
    assert.equal(complaint(await expectedOutput('backup-operator'), outcome), undefined);
    assert.doesNotMatch(outcome.stderr, /FORBIDDEN/);
  });

  test('does its work in two namespaces with exactly the rights that rbac() prints for one', async () => {
    const { kubeConfig, users } = cluster();
    await using folder = new TemporaryFolder();
    await using server = await startEmbeddedApiServer();
    for (const object of await manifests('backup-crd.yaml'))
      await server.apply([
        { type: 'create', resource: 'customresourcedefinitions.apiextensions.k8s.io', object },
      ]);
    const embedded = new Program('backup-operator', folder.write('embedded', server.kubeConfigYaml, 0o600));
    users.push(embedded);
    await changeBackups(server.admin, embedded);
    embedded.stop('SIGTERM');
    assert.equal((await embedded.outcome).end, '0');

    // No garbage collector runs beside this apiserver.
    await client.delete(resources.batch.v1.cronJobs, 'default/photos');
    const account = { namespace: 'default', name: 'printed' };
    await client.create(serviceAccounts, { metadata: account });
    await client.create(resources.core.v1.namespaces, { metadata: { name: 'second' } });
    for (const role of loadAll(await server.rbac({ name: 'printed' })) as Manifest[]) {
      await client.create(resourceOf(role), role);
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name: 'printed' };
      const subjects = [{ kind: 'ServiceAccount', ...account }];
      const { apiVersion, metadata } = role;
      const binding = { apiVersion, kind: `${role.kind}Binding`, metadata, roleRef, subjects };
      await client.create(resourceOf(binding), binding);
    }
    const program = new Program('backup-operator', folder.write('real', await kubeconfigOf(account), 0o600));
    users.push(program);
    for (const namespace of ['default', 'second']) await changeBackups(kubeConfig, program, namespace);
    program.stop('SIGTERM');
    const { stderr, end } = await program.outcome;
    assert.doesNotMatch(stderr, /FORBIDDEN|forbidden/);
    assert.equal(end, '0', stderr);
  });

  /** Returns the kubeconfig of an account. */
  async function kubeconfigOf(metadata: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<string> {
    const { controlPlane } = cluster();
    const spec = { audiences: [], expirationSeconds: 3600 };
    const { status } = await client.create(serviceAccounts, { metadata, spec }, { subresource: 'token' });
    const yaml = await readFile(controlPlane.kubeconfigPath, 'utf8');
    return yaml.replaceAll(controlPlane.token, status?.token ?? '');
  }
});
