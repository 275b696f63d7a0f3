/** Scenarios of the objects that callbacks receive: their types and their content. */
import type { V1Pod } from '@kubernetes/client-node';
import { deliverMany, started } from './scenario.ts';
import type { Scenarios } from './scenario.ts';

const TIME = '2024-05-06T07:08:09Z';
const RICH = {
  metadata: {
    labels: { app: 'web' },
    annotations: { 'example.com/a': '1' },
    managedFields: [{ manager: 'm', operation: 'Update', time: TIME, fieldsV1: { 'f:spec': {} } }],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true }],
  },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { limits: { cpu: '100m' } },
        livenessProbe: { httpGet: { path: '/', port: 8080 } },
        readinessProbe: { httpGet: { path: '/', port: 'http' } },
        env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      },
    ],
    tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 5 }],
    nodeSelector: { zone: 'a' },
  },
  status: { startTime: TIME, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: TIME }] },
};

const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const WIDGET = { kind: 'Widget', apiVersion: 'example.com/v1' };
const RICH_POD = {
  kind: 'Pod',
  apiVersion: 'v1',
  ...RICH,
  metadata: { ...RICH.metadata, ...stored('a', '11') },
};

/** The metadata that the server adds. */
function stored(name: string, resourceVersion: string): object {
  const creationTimestamp = TIME;
  return { name, namespace: 'default', uid: `uid-${name}`, creationTimestamp, resourceVersion };
}

export const SCENARIOS_OF_OBJECTS: Scenarios = {
  'a deletion has the object of the event, or the last known one when a list found it missing': {
    async steps(stage) {
      await started(stage, 'a', 'b');
      stage.world.remove('a');
      await stage.seen('delete a');
      stage.world.expire(() => stage.world.remove('b'));
      await stage.seen('delete b');
      return stage.objects.map(({ metadata }) => metadata?.resourceVersion);
    },
    expected: ['11', '12', '13', '12'],
  },
  'the type of listed objects': {
    async steps(stage) {
      stage.world.put('a', RICH);
      await stage.informer.start();
      const [pod] = stage.objects;
      return [typesOf(pod), withoutType(pod)];
    },
    expected: [
      ['V1Pod', 'V1ObjectMeta', 'Date', 'Date'],
      { metadata: RICH_POD.metadata, spec: RICH.spec, status: RICH.status },
    ],
  },
  'kind and apiVersion of listed objects': {
    async steps(stage) {
      await started(stage, 'a');
      return [stage.objects[0]?.kind ?? null, stage.objects[0]?.apiVersion ?? null];
    },
    expected: [null, null],
    kubeloom: { row: 'Listed objects', expected: ['Pod', 'v1'] },
  },
  'the type of watched objects': {
    async steps(stage) {
      await started(stage);
      stage.world.put('a', RICH);
      await stage.seen('add a');
      return typesOf(stage.objects[0]);
    },
    expected: ['Object', 'Object', 'string', 'string'],
    kubeloom: { row: 'Watched objects', expected: ['V1Pod', 'V1ObjectMeta', 'Date', 'Date'] },
  },
  'watched objects have the content of the event': {
    async steps(stage) {
      await started(stage);
      stage.world.put('a', RICH);
      await stage.seen('add a');
      return stage.objects[0];
    },
    expected: RICH_POD,
  },
  'times of listed objects as JSON': {
    async steps(stage) {
      await started(stage, 'a');
      return JSON.parse(JSON.stringify(stage.objects[0]?.metadata?.creationTimestamp));
    },
    expected: '2024-05-06T07:08:09.000Z',
    kubeloom: { row: 'Times as JSON', expected: '2024-05-06T07:08:09Z' },
  },
  'what a callback writes into an object, much later': {
    async steps(stage) {
      await started(stage);
      stage.informer.on('add', ({ metadata }) => {
        if (metadata?.name === 'a') metadata.labels = { written: 'yes' };
      });
      stage.world.put('a');
      await deliverMany(stage);
      return stage.informer.get('a', 'default')?.metadata?.labels ?? null;
    },
    expected: { written: 'yes' },
    kubeloom: { row: 'What a callback writes into an object', expected: null },
  },
  'members that were read, in the next state of an object': {
    async steps(stage) {
      await started(stage);
      const phases: unknown[] = [];
      stage.informer.on('change', ({ status, metadata }) => {
        phases.push([metadata?.name, metadata?.labels, status?.phase, status?.conditions?.length]);
      });
      stage.world.put('a', { status: { phase: 'Pending' } });
      stage.world.put('a', { status: READY });
      stage.world.put('a', { metadata: { labels: { b: 'c' } }, status: READY });
      stage.world.remove('a');
      await stage.seen('delete a');
      return [phases, stage.objects.map(({ status }) => status)];
    },
    expected: [
      [
        ['a', null, 'Pending', null],
        ['a', null, 'Running', 1],
        ['a', { b: 'c' }, 'Running', 1],
        ['a', { b: 'c' }, 'Running', 1],
      ],
      [{ phase: 'Pending' }, READY, READY, READY],
    ],
  },
  'fields that client-node does not know, in watched objects': {
    async steps(stage) {
      await started(stage);
      stage.world.put('a', { spec: { containers: [], fromTheFuture: true } });
      await stage.seen('add a');
      return Object.keys(stage.objects[0]?.spec ?? {});
    },
    expected: ['containers', 'fromTheFuture'],
    kubeloom: { row: 'Unknown fields', expected: ['containers'] },
  },
  'custom resources are the JSON of the wire': {
    options: {
      path: '/apis/example.com/v1/widgets',
      ...WIDGET,
      listFn:
        (kubeConfig, { CustomObjectsApi }) =>
        () =>
          kubeConfig.makeApiClient(CustomObjectsApi).listCustomObjectForAllNamespaces({
            group: 'example.com',
            version: 'v1',
            resourcePlural: 'widgets',
            plural: 'widgets',
          } as never),
    },
    async steps(stage) {
      stage.world.put('a', { spec: { default: 1 } });
      await stage.informer.start();
      stage.world.put('b');
      await stage.seen('add b');
      return stage.objects.map((object) => [typesOf(object), object]);
    },
    expected: [
      { ...WIDGET, spec: { default: 1 }, metadata: stored('a', '11') },
      { ...WIDGET, metadata: stored('b', '12') },
    ].map((widget) => [['Object', 'Object', 'string', 'undefined'], widget]),
  },
};

function typesOf(object: V1Pod | undefined): unknown {
  const { metadata, status } = object ?? {};
  return [object, metadata, metadata?.creationTimestamp, status?.startTime].map((value) =>
    typeof value === 'object' ? (value instanceof Date ? 'Date' : value.constructor.name) : typeof value,
  );
}

/** Returns the JSON of a pod without what other scenarios compare: its type, and the form of times. */
function withoutType(pod: V1Pod | undefined): unknown {
  const text = JSON.stringify({ ...pod, kind: undefined, apiVersion: undefined });
  return JSON.parse(text.replaceAll('.000Z', 'Z'));
}
