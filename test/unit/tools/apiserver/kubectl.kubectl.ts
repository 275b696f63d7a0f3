/**
 * The real kubectl against the embedded server, over TLS and with its token: `npm run suite -- kubectl`. Takes
 * `kubectl` from the path (Debian: apt-get install kubernetes-client) or from $KUBECTL.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const run = promisify(execFile);

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "example.com/main:1", env: [{name: A, value: "1"}]}
      - {name: side, image: "example.com/side:1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: red, size: small}
`;

const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: foos, kind: Foo}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 10}}}
          status: {type: object, properties: {size: {type: integer}}}
`;

function configMap(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: "1"}\n`;
}

let server: EmbeddedApiServer;
let folder: string;
let environment: NodeJS.ProcessEnv;

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await run(KUBECTL, args, { env: environment });
  return stdout;
}

async function apply(manifest: string, ...args: string[]): Promise<string> {
  const file = join(folder, 'manifest.yaml');
  await writeFile(file, manifest);
  return kubectl('apply', ...args, '-f', file);
}

before(async () => {
  server = await startEmbeddedApiServer();
  folder = await mkdtemp(join(tmpdir(), 'kubeloom-kubectl-'));
  await writeFile(join(folder, 'kubeconfig'), server.kubeConfigYaml);
  // Its own home, so that no cache of another server's discovery is used.
  environment = { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };
});

after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

describe('kubectl', () => {
  it('lists the resources and their short names', async () => {
    const resources = await kubectl('api-resources', '-o', 'name');
    for (const name of ['pods', 'deployments.apps', 'networkpolicies.networking.k8s.io']) {
      assert.ok(resources.split('\n').includes(name), name);
    }
    assert.match(await kubectl('get', 'ns'), /^NAME\s.*AGE\ndefault /);
  });

  it('applies: creates, changes one field without touching its neighbours, and prunes what was removed', async () => {
    assert.match(await apply(DEPLOYMENT), /deployment\.apps\/web created\nconfigmap\/settings created/);
    const changed = DEPLOYMENT.replace('main:1', 'main:2').replace(', size: small', '');
    assert.match(await apply(changed), /deployment\.apps\/web configured\nconfigmap\/settings configured/);
    assert.match(await apply(changed), /deployment\.apps\/web unchanged\nconfigmap\/settings unchanged/);
    const template = '{range .spec.template.spec.containers[*]}{.name}={.image} {.env[*].value};{end}';
    const containers = await kubectl('get', 'deploy', 'web', '-o', `jsonpath=${template}`);
    assert.equal(containers, 'main=example.com/main:2 1;side=example.com/side:1 ;');
    assert.equal(await kubectl('get', 'cm', 'settings', '-o', 'jsonpath={.data}'), '{"color":"red"}');
  });

  it('also applies on the server side', async () => {
    const manifest = configMap('ssa');
    assert.match(await apply(manifest, '--server-side'), /configmap\/ssa serverside-applied/);
    assert.match(await apply(manifest.replace('"1"', '"2"'), '--server-side'), /serverside-applied/);
    assert.equal(await kubectl('get', 'cm', 'ssa', '-o', 'jsonpath={.data.a}'), '2');
  });

  it('creates what it sends as protobuf, and asks for its rights', async () => {
    const created = [
      ['configmap', 'literal', '--from-literal=a=1'],
      ['secret', 'generic', 'hidden', '--from-literal=a=1'],
      ['deployment', 'made', '--image=example.com/made:1', '--replicas=2'],
      ['service', 'clusterip', 'made', '--tcp=80:8080'],
      ['job', 'made', '--image=example.com/made:1'],
      ['serviceaccount', 'made'],
      ['role', 'made', '--verb=get', '--resource=pods'],
      ['rolebinding', 'made', '--role=made', '--serviceaccount=default:made'],
      ['ingress', 'web', '--rule=example.com/*=web:80'],
      ['quota', 'few', '--hard=pods=2'],
      ['pdb', 'some', '--selector=app=web', '--min-available=1'],
    ];
    for (const args of created) assert.match(await kubectl('create', ...args), / created$/m);
    const containers = '{.spec.replicas} {.spec.template.spec.containers[*].image}';
    assert.equal(
      await kubectl('get', 'deploy', 'made', '-o', `jsonpath=${containers}`),
      '2 example.com/made:1',
    );
    assert.equal(await kubectl('get', 'secret', 'hidden', '-o', 'jsonpath={.data.a}'), 'MQ==');
    assert.equal((await kubectl('auth', 'can-i', 'get', 'pods')).trim(), 'yes');
  });

  it('defines a kind, applies an object of it, and deletes both', async () => {
    assert.match(await apply(DEFINITION), /foos\.example\.com created/);
    await kubectl('wait', '--for=condition=Established', 'crd/foos.example.com', '--timeout=10s');
    const foo = (size: number): string =>
      `apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a}\nspec: {size: ${size}}\n`;
    assert.match(await apply(foo(1)), /foo\.example\.com\/a created/);
    assert.match(await apply(foo(2)), /foo\.example\.com\/a configured/);
    assert.match(await kubectl('scale', 'foo', 'a', '--replicas=3'), /scaled/);
    assert.equal(await kubectl('get', 'foos', 'a', '-o', 'jsonpath={.spec.size}'), '3');
    await assert.rejects(
      apply(foo(1000)),
      /spec\.size: Invalid value: 1000: .* should be less than or equal to 10/,
    );
    await assert.rejects(apply(foo(1).replace('size', 'sice')), /unknown field "spec\.sice"/);
    await kubectl('delete', 'crd', 'foos.example.com', '--timeout=10s');
    await assert.rejects(kubectl('get', 'foos'), /the server could not find the requested resource/);
  });

  it('scales, and deletes a namespace with its contents', async () => {
    await apply('apiVersion: v1\nkind: Namespace\nmetadata: {name: short}\n');
    await apply(DEPLOYMENT, '-n', 'short');
    await kubectl('scale', 'deploy', 'web', '--replicas=5', '-n', 'short');
    assert.equal(
      await kubectl('get', 'deploy', 'web', '-n', 'short', '-o', 'jsonpath={.spec.replicas}'),
      '5',
    );
    await kubectl('delete', 'namespace', 'short', '--timeout=10s');
    await assert.rejects(kubectl('get', 'namespace', 'short'), /namespaces "short" not found/);
  });

  it('patches with every type of patch', async () => {
    await apply(configMap('patched'));
    await kubectl('patch', 'cm', 'patched', '-p', '{"data":{"b":"2"}}');
    await kubectl('patch', 'cm', 'patched', '--type=merge', '-p', '{"data":{"a":null}}');
    await kubectl(
      'patch',
      'cm',
      'patched',
      '--type=json',
      '-p',
      '[{"op":"add","path":"/data/c","value":"3"}]',
    );
    await kubectl('label', 'cm', 'patched', 'team=blue');
    const data = await kubectl('get', 'cm', '-l', 'team=blue', '-o', 'jsonpath={.items[*].data}');
    assert.deepEqual(JSON.parse(data), { b: '2', c: '3' });
  });

  it('gets in every format, over all namespaces, and reports absent objects in its own words', async () => {
    await server.apply([
      { type: 'put', resource: 'pods', object: { metadata: { name: 'elsewhere', namespace: 'team-a' } } },
    ]);
    assert.match(await kubectl('get', 'pods', '-A'), /^NAMESPACE\s+NAME\s.*\n.*team-a\s+elsewhere\s/s);
    assert.equal(await kubectl('get', 'pods', '-n', 'team-a', '-o', 'name'), 'pod/elsewhere\n');
    const yaml = await kubectl('get', 'pod', 'elsewhere', '-n', 'team-a', '-o', 'yaml');
    assert.match(yaml, /^apiVersion: v1\nkind: Pod\n/);
    await assert.rejects(
      kubectl('get', 'pod', 'absent'),
      /Error from server \(NotFound\): pods "absent" not found/,
    );
  });

  it('watches with get -w', async () => {
    const child = spawn(KUBECTL, ['get', 'cm', '-n', 'watched', '-w', '-o', 'name'], { env: environment });
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      await server.waitForWatches(1);
      const object = { metadata: { name: 'seen', namespace: 'watched' } };
      await server.apply([{ type: 'create', resource: 'configmaps', object }]);
      assert.equal((await lines.next()).value, 'configmap/seen');
      await kubectl('label', 'cm', 'seen', '-n', 'watched', 'x=y');
      assert.equal((await lines.next()).value, 'configmap/seen');
    } finally {
      child.kill();
    }
  });

  it('deletes one, by selector, and waits until it is gone', async () => {
    await kubectl('run', 'short', '--image=example.com/app:1', '--restart=Never');
    assert.match(await kubectl('delete', 'pod', 'short'), /pod "short" deleted/);
    await apply(configMap('doomed'));
    await kubectl('label', 'cm', 'doomed', 'doomed=yes');
    assert.match(await kubectl('delete', 'cm', '-l', 'doomed=yes'), /configmap "doomed" deleted/);
    assert.deepEqual((await server.state('pods')).get('default/short'), undefined);
    assert.deepEqual((await server.state('configmaps')).get('default/doomed'), undefined);
  });

  it('is refused with a wrong token', async () => {
    await assert.rejects(kubectl('get', 'pods', '--token=wrong'), /Unauthorized|must be logged in/);
  });
});
