/** The differences between a real cluster and the embedded apiserver that docs/embedded-apiserver.md names: each is one, still. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { Client } from '../../semantics/client.ts';
import type { Answer, Body } from '../../semantics/client.ts';
import { ok, refused } from '../../semantics/fixture.ts';
import { ROOT } from './documents.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const APPS = '/apis/apps/v1/namespaces/default';
const POD = { containers: [{ name: 'main', image: 'busybox' }] };
/** The spec of a Deployment. */
const WORKLOAD = {
  selector: { matchLabels: { app: 'a' } },
  template: { metadata: { labels: { app: 'a' } }, spec: POD },
};

/** First columns of the table. */
const ROWS: readonly string[] = readFileSync(join(ROOT, 'docs/embedded-apiserver.md'), 'utf8')
  .split('\n## Differences from a real cluster\n')
  .slice(1)
  .flatMap((section) => [...section.matchAll(/^\| (.*?) \| /gm)])
  .slice(1)
  .map(([, real = '']) => real);

/** A server, and short words for what the checks do with it. */
class Lab {
  readonly server: EmbeddedApiServer;
  readonly client: Client;
  #kinds = 0;

  constructor(server: EmbeddedApiServer) {
    this.server = server;
    this.client = new Client({ url: server.url, token: '', ca: '' });
  }

  readonly core = (resource: string, name = ''): string => `/api/v1/namespaces/default/${resource}${name}`;

  readonly create = async (path: string, body: object): Promise<Body> =>
    ok(await this.client.post(path, body));

  /** Defines a kind whose spec has these properties; returns the answer to an object of it. */
  readonly custom = async (spec: object, object: object, names: object = {}): Promise<Answer> => {
    const plural = `kinds${this.#kinds++}`;
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', ...spec } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
    const named = { plural, kind: `Kind${this.#kinds}`, ...names };
    const definition = { group: 'example.com', scope: 'Cluster', names: named, versions };
    await this.create(DEFINITIONS, { metadata: { name: `${plural}.example.com` }, spec: definition });
    const apiVersion = 'example.com/v1';
    const body = { apiVersion, kind: named.kind, metadata: { name: 'a' }, spec: object };
    return this.client.post(`/apis/example.com/v1/${plural}`, body);
  };
}

interface OpenApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly type?: string; readonly description?: string }>>;
  };
}

type Check = (lab: Lab) => Promise<void>;
/** By the first column of the table. */
type Checks = Readonly<Record<string, Check>>;

const POLICIES: Checks = {
  'Admission webhooks and policies change or refuse objects': async ({ core, create }) => {
    const webhooks = [
      {
        name: 'a.example.com',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: 'https://example.com' },
      },
    ];
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    await create(path, { metadata: { name: 'refuses' }, webhooks });
    await create(core('configmaps'), { metadata: { name: 'admitted' } });
  },
  'Quotas and limit ranges restrict objects': async ({ core, create }) => {
    await create(core('resourcequotas'), { metadata: { name: 'none' }, spec: { hard: { configmaps: '0' } } });
    await create(core('configmaps'), { metadata: { name: 'beyond' } });
  },
  'RBAC decides what a token may do': async ({ server, client, core, create }) => {
    const review = await create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'delete', resource: 'secrets' } },
    });
    assert.deepEqual(review.status, { allowed: true });
    await server.setFaults({
      rules: [{ faultId: 'rbac', match: { resource: 'secrets' }, action: { type: 'answer', status: 403 } }],
    });
    assert.equal((await client.get(core('secrets'))).status, 403);
    await server.healFaults();
  },
  'Every rule of a spec holds': async ({ create }) => {
    const spec = { ...WORKLOAD, minReadySeconds: 700, progressDeadlineSeconds: 600 };
    await create(`${APPS}/deployments`, { metadata: { name: 'stuck' }, spec });
  },
  'Admission plugins complete objects': async ({ create, core }) => {
    const port = { port: 80 };
    const { spec } = await create(core('services'), { metadata: { name: 's' }, spec: { ports: [port] } });
    assert.equal(Object(spec)['clusterIP'], undefined);
    const claim = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    };
    const { metadata } = await create(core('persistentvolumeclaims'), {
      metadata: { name: 'c' },
      spec: claim,
    });
    assert.equal(metadata['finalizers'], undefined);
  },
};

const CONTROLLERS: Checks = {
  'Controllers act on built-in kinds': async ({ client, core, create }) => {
    const [metadata, template] = [{ name: 'idle' }, { spec: { ...POD, restartPolicy: 'Never' } }];
    await create(`${APPS}/deployments`, { metadata, spec: WORKLOAD });
    await create('/apis/batch/v1/namespaces/default/jobs', { metadata, spec: { template } });
    assert.deepEqual(ok(await client.get(`${APPS}/replicasets`)).items, []);
    assert.deepEqual(ok(await client.get(core('pods'))).items, []);
  },
  'A new namespace gets a ServiceAccount and a ConfigMap': async ({ client, create }) => {
    await create('/api/v1/namespaces', { metadata: { name: 'fresh' } });
    for (const resource of ['serviceaccounts', 'configmaps'])
      assert.deepEqual(ok(await client.get(`/api/v1/namespaces/fresh/${resource}`)).items, []);
  },
  'Pods are scheduled and run': async ({ client, core, create }) => {
    const { status } = await create(core('pods'), { metadata: { name: 'idle' }, spec: POD });
    assert.deepEqual(status, { phase: 'Pending', qosClass: 'BestEffort' });
    const running = { status: { phase: 'Running' } };
    ok(await client.mergePatch(`${core('pods', '/idle')}/status`, running));
  },
  'A deleted pod ends within its grace period': async ({ client, core, create }) => {
    await create(core('pods'), {
      metadata: { name: 'slow' },
      spec: { ...POD, terminationGracePeriodSeconds: 300 },
    });
    ok(await client.delete(core('pods', '/slow'), { gracePeriodSeconds: 300 }));
    assert.equal((await client.get(core('pods', '/slow'))).status, 404);
  },
  'Conditions of a namespace or a definition tell what keeps it': async ({ client, create }) => {
    await create('/api/v1/namespaces', { metadata: { name: 'kept' } });
    const metadata = { name: 'held', finalizers: ['example.com/hold'] };
    await create('/api/v1/namespaces/kept/configmaps', { metadata });
    ok(await client.delete('/api/v1/namespaces/kept'));
    assert.deepEqual(ok(await client.get('/api/v1/namespaces/kept')).status, { phase: 'Terminating' });
  },
  'Garbage is collected in the background': async ({ client, core, create }) => {
    const { metadata } = await create(core('configmaps'), { metadata: { name: 'owner' } });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid };
    await create(core('configmaps'), { metadata: { name: 'owned', ownerReferences: [owner] } });
    ok(await client.delete(core('configmaps', '/owner')));
    assert.equal((await client.get(core('configmaps', '/owned'))).status, 404);
  },
  'A new definition is accepted a moment after the answer': async ({ custom }) => {
    assert.equal((await custom({}, {})).status, 201);
  },
};

const SCHEMAS: Checks = {
  'Types and costs of rules (CEL) are checked with the definition': async ({ custom }) => {
    const schema = (rule: string): object => {
      const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
      return { properties: { a: set, b: set }, 'x-kubernetes-validations': [{ rule }] };
    };
    const typed = await custom(schema("!has(self.a) || self.a > 'x'"), {});
    assert.equal(typed.status, 201, 'a cluster refuses the definition: a list is no text');
    const nested = await custom(schema('self.a.all(x, self.b.all(y, self.a.all(z, z != y)))'), {
      a: [],
      b: [],
    });
    assert.equal(nested.status, 201, 'a cluster refuses the definition: the rule costs too much');
  },
  '`managedFields` round integers beyond 2^53 in the keys of items': async ({ client, custom }) => {
    const list = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } };
    const { kind = '', apiVersion = '' } = (await custom({ properties: { list } }, {})).body;
    const path = `/apis/${apiVersion}/kinds${Number(kind.slice('Kind'.length)) - 1}/long`;
    const spec = '{"list":[9007199254740993]}';
    const body = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"long"},"spec":${spec}}`;
    const contentType = 'application/apply-patch+yaml';
    ok(await client.request('PATCH', `${path}?fieldManager=one`, { body, contentType }));
    const { text } = await client.mergePatch(path, { metadata: { labels: { a: 'b' } } });
    assert.match(text, /"v:9007199254740993":/);
  },
  'A number such as `1.0` or `1e3` is not an integer of a built-in kind': async ({ client, core }) => {
    for (const [name, number] of Object.entries({ fraction: '1.0', exponent: '1e3' }))
      ok(await client.post(core('configmaps'), `{"metadata":{"name":"${name}","generation":${number}}}`));
  },
  'A definition with an unknown format gets a warning': async ({ client }) => {
    const schema = { type: 'object', properties: { a: { type: 'string', format: 'odd' } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const spec = { group: 'example.com', scope: 'Cluster', names: { plural: 'odds', kind: 'Odd' }, versions };
    const { status, headers } = await client.post(DEFINITIONS, {
      metadata: { name: 'odds.example.com' },
      spec,
    });
    assert.deepEqual([status, headers.warning], [201, undefined]);
  },
  'Webhooks convert versions of custom resources': async ({ client }) => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const spec = { group: 'example.com', scope: 'Cluster', names: { plural: 'as', kind: 'A' }, versions };
    const clientConfig = { url: 'https://example.com' };
    const webhook = { conversionReviewVersions: ['v1'], clientConfig };
    const conversion = { strategy: 'Webhook', webhook };
    const body = { metadata: { name: 'as.example.com' }, spec: { ...spec, conversion } };
    const answer = await client.post(DEFINITIONS, body);
    refused(answer, 422, /spec\.conversion\.strategy: Unsupported value: "Webhook"/);
  },
  'Definitions with conflicting names are not accepted': async ({ custom }) => {
    for (let times = 0; times < 2; times++)
      assert.equal((await custom({}, {}, { kind: 'Same' })).status, 201);
  },
};

const PROTOCOL: Checks = {
  'Bodies and answers can be protobuf or CBOR': async ({ client, core }) => {
    const contentType = 'application/vnd.kubernetes.protobuf';
    const body = 'k8s\0\n\t\n\u0002v1\u0012\u0003Odd';
    const sent = await client.request('POST', '/api/v1/nodes', { body, contentType });
    refused(sent, 415, /not the kind Odd: send JSON/);
    const cbor = await client.request('POST', core('configmaps'), {
      body: '',
      contentType: 'application/cbor',
    });
    assert.equal(cbor.status, 415);
    for (const accept of ['application/vnd.kubernetes.protobuf', 'application/cbor'])
      assert.equal((await client.get(core('pods'), { accept })).status, 406, accept);
  },
  'OpenAPI describes built-in kinds': async ({ client }) => {
    const { body } = await client.get('/openapi/v3/api/v1');
    const pod = (body as unknown as OpenApi).components.schemas['core.v1.Pod'];
    assert.deepEqual([pod?.type, pod?.description], ['object', undefined]);
  },
  'Subresources such as `log`, `exec` and `ephemeralcontainers`': async ({ client, core, create }) => {
    await create(core('pods'), { metadata: { name: 'plain' }, spec: POD });
    for (const name of ['log', 'exec', 'ephemeralcontainers'])
      assert.equal((await client.get(core('pods', `/plain/${name}`))).status, 404);
  },
  '`autoscaling/v1` keeps all fields in annotations': async ({ client, create }) => {
    const path = (version: string): string =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const scaleTargetRef = { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' };
    const resource = (name: string): object => {
      const target = { type: 'Utilization', averageUtilization: 50 };
      return { type: 'Resource', resource: { name, target } };
    };
    const metrics = [resource('memory'), resource('cpu')];
    const spec = { scaleTargetRef, maxReplicas: 3, metrics };
    await create(path('v2'), { metadata: { name: 'a' }, spec });
    const { body } = await client.get(`${path('v1')}/a`);
    assert.equal(body.metadata.annotations, undefined);
    const older = { scaleTargetRef, maxReplicas: 3, minReplicas: 1, targetCPUUtilizationPercentage: 50 };
    assert.deepEqual(body.spec, older);
  },
  'Other kinds of reviews and tokens': async ({ client, core }) => {
    for (const path of [
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      core('serviceaccounts', '/default/token'),
    ]) {
      assert.equal((await client.post(path, {})).status, 404, path);
    }
  },
};

const CHECKS: Checks = { ...POLICIES, ...CONTROLLERS, ...SCHEMAS, ...PROTOCOL };

describe('the embedded apiserver differs from a real cluster as documented', () => {
  let lab: Lab;
  before(async () => {
    lab = new Lab(await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' }));
  });
  after(() => lab.server.close());

  it('in the rows that are checked here, and in no other', () => {
    assert.deepEqual(Object.keys(CHECKS), ROWS);
  });

  for (const [real, check] of Object.entries(CHECKS)) it(`not: ${real}`, () => check(lab));
});
