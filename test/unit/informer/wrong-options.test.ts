/** Options of those who do not check types: what would be silently nothing is refused, by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Indexers, Transform } from '../../../src/index.ts';
import {
  InformerThreads,
  SharedIndexInformer,
  SharedInformerFactory,
  drop,
  field,
  indexModule,
  label,
  namespaceIndex,
  ownerUid,
  transformModule,
} from '../../../src/index.ts';
import { InformersMap } from '../../../src/controller/index.ts';
import { PODS, Scene } from './scene.ts';
import type { Pod } from './scene.ts';

const TRANSFORMS = [
  null,
  5,
  'trim',
  {},
  { transform: 'drop' },
  { transform: 'drop', paths: [1] },
  { transform: 'module', url: 'x' },
];
const INDEXERS = [
  null,
  5,
  { app: 1 },
  { app: null },
  { app: { index: 'lable', label: 'app' } },
  { app: { index: 'label' } },
];
const OTHERS = [{ fields: 'spec' }, { fields: [1] }, { onError: 5 }, { debug: { onMutation: 'log' } }];

const refused = (name: string): object => ({ code: 'ERR_KUBELOOM_OPTION', message: new RegExp(name) });

test('C62 a transform, an indexer or a callback that is none is refused when the informer is made', async () => {
  await using scene = new Scene();
  const wrong: readonly object[] = [
    ...TRANSFORMS.filter((transform) => transform !== null).map((transform) => ({ transform })),
    ...INDEXERS.filter((indexers) => indexers !== null).map((indexers) => ({ indexers })),
    ...OTHERS,
  ];
  for (const options of wrong) {
    const [name = ''] = Object.keys(options);
    assert.throws(() => scene.informer(options), refused(name), JSON.stringify(options));
  }
});

test('C62 is also refused when it is set or added later, without effect', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  for (const transform of TRANSFORMS) {
    assert.throws(() => informer.setTransform(transform as Transform<Pod>), refused('transform'));
  }
  for (const indexers of INDEXERS) {
    assert.throws(() => informer.addIndexers(indexers as unknown as Indexers<Pod>), refused('indexers'));
  }
  assert.throws(() => informer.setWatchErrorHandler(5 as never), refused('the watch error handler'));
  const good = {
    app: label('app'),
    f: field('spec.x'),
    m: indexModule('file:///x.js'),
    n: namespaceIndex(),
    o: ownerUid(),
    p: () => [],
  };
  informer.addIndexers(good);
  assert.deepEqual(Object.keys(informer.getIndexer().getIndexers()), ['namespace', ...Object.keys(good)]);
});

const OUT_OF_BOUNDS: Readonly<Record<string, readonly unknown[]>> = {
  codec: ['protobuf'],
  resyncPeriodMs: [-1, Number.NaN, '10s'],
  backoff: [{ initialMs: 0 }, { initialMs: 100, maxMs: 50 }, { maxMs: 100 }],
  fields: [['']],
  list: [5, 'off', [], { watchList: 'on' }, { initialList: 'last' }],
};

const OUT_OF_BOUNDS_IN_GROUPS: Readonly<Record<string, readonly unknown[]>> = {
  'list.watchList': ['on'],
  'list.initialList': ['last'],
  'list.pageSize': [-1, 1.5, 2_000_000],
  'list.idleTimeoutMs': [99, 2 ** 31],
  'watch.minTimeoutMs': [299_999],
  'watch.idleTimeoutMs': [99, 2 ** 31],
  'watch.maxInternalErrorRetryDurationMs': [-1],
  'watch.staleAfterMs': [0, '120s'],
  'slowHandler.callMs': [-1, '100'],
  'slowHandler.pendingNotifications': [-1, 1.5],
  'slowHandler.ageMs': [2 ** 31, Number.NaN],
  'debug.retainChecks': ['weak'],
  'debug.mutationDetector': ['thaw'],
  'debug.onMutation': ['log'],
};

test('C62 a value out of bounds is refused by the name of its option', async () => {
  await using scene = new Scene();
  for (const [name, values] of Object.entries(OUT_OF_BOUNDS)) {
    for (const value of values) assert.throws(() => scene.informer({ [name]: value }), refused(`^${name}`));
  }
  for (const [path, values] of Object.entries(OUT_OF_BOUNDS_IN_GROUPS)) {
    const [group = '', name = ''] = path.split('.');
    for (const value of values)
      assert.throws(() => scene.informer({ [group]: { [name]: value } }), refused(`^${path} must be `));
  }
});

const UNKNOWN: readonly (readonly [object, RegExp])[] = [
  [{ onEror: () => undefined }, /"onEror": did you mean onError\?$/],
  [{ namespaces: 'web' }, /"namespaces": did you mean namespace\?$/],
  [{ LabelSelector: 'app' }, /"LabelSelector": did you mean labelSelector\?$/],
  [{ resyncPeriod: 1 }, /"resyncPeriod": did you mean resyncPeriodMs\?$/],
  [{ toString: 1 }, /"toString": known are namespace, labelSelector, /],
  [{ backoff: { max: 1 } }, /^there is no option backoff\.max: did you mean backoff\.maxMs\?$/],
  [
    { list: { size: 1 } },
    /^there is no option list\.size: known are list\.watchList, list\.initialList, list\.pageSize, list\.idleTimeoutMs$/,
  ],
  [{ pageSize: 5 }, /have no "pageSize": did you mean list\.pageSize\?$/],
  [{ minWatchTimeoutMs: 5 }, /have no "minWatchTimeoutMs": did you mean watch\.minTimeoutMs\?$/],
  [{ idleTimeoutMs: 5 }, /did you mean list\.idleTimeoutMs or watch\.idleTimeoutMs\?$/],
  [{ slowCallMs: 5 }, /have no "slowCallMs": did you mean slowHandler\.callMs\?$/],
  [{ slowNotifications: 5 }, /known are namespace, .*, slowHandler\.pendingNotifications, /],
  [
    { threads: { indexers: 3 } },
    /options of the threads have no "indexers": known are indexerThreads, logBytes, /,
  ],
];

test('C62 an option that there is not is refused, with the one that was probably meant', async () => {
  await using scene = new Scene();
  for (const [options, message] of UNKNOWN) {
    assert.throws(() => scene.informer(options), { code: 'ERR_KUBELOOM_OPTION', message });
  }
});

test('C62 threads that are neither options nor threads are not taken for the default', async () => {
  await using scene = new Scene();
  for (const threads of [0, 3, '3', true, null, [], () => 3]) {
    assert.throws(() => scene.informer({ threads } as never), refused('threads'), String(threads));
    if (threads === null) continue;
    assert.throws(() => new InformerThreads(threads as never), refused('threads'), String(threads));
  }
});

const MALFORMED: readonly (readonly [object, string, RegExp])[] = [
  [{ fields: ['spec..x'] }, 'ERR_KUBELOOM_OPTION', /^fields: invalid field path "spec\.\.x": a key is empty/],
  [{ indexers: { x: field('spec.') } }, 'ERR_KUBELOOM_OPTION', /^indexers\.x: invalid field path "spec\."/],
  [{ indexers: { x: label('') } }, 'ERR_KUBELOOM_OPTION', /^indexers\.x\.label must be the name of a label/],
  [
    { indexers: { x: indexModule('./x.js') } },
    'ERR_KUBELOOM_OPTION',
    /^indexers\.x\.url must be an absolute URL/,
  ],
  [{ transform: drop('spec..x') }, 'ERR_KUBELOOM_OPTION', /^transform: invalid field path/],
  [{ transform: transformModule('x.js') }, 'ERR_KUBELOOM_OPTION', /^transform\.url must be an absolute URL/],
  [{ labelSelector: 'app in (' }, 'ERR_KUBELOOM_SELECTOR', /^labelSelector: /],
  [{ labelSelector: 5 }, 'ERR_KUBELOOM_OPTION', /^labelSelector must be text, got 5$/],
  [{ fieldSelector: 'spec.nodeName' }, 'ERR_KUBELOOM_SELECTOR', /^fieldSelector: /],
  [{ namespace: 'A B' }, 'ERR_KUBELOOM_OPTION', /^namespace must be the name of a namespace.*got "A B"$/],
  [{ clock: Date }, 'ERR_KUBELOOM_OPTION', /^clock must be a clock/],
];

test('C62 what cannot be parsed is refused when the informer is made, by the name of its option', async () => {
  await using scene = new Scene();
  for (const [options, code, message] of MALFORMED) {
    assert.throws(() => scene.informer(options), { code, message }, JSON.stringify(options));
  }
});

test('C62 an index module beside a plain transform is refused when the second of them is given', async () => {
  await using scene = new Scene();
  const indexers = { x: indexModule('file:///x.js') };
  const transform = (object: Pod): Pod => object;
  const both = { code: 'ERR_KUBELOOM_OPTION', message: /^an index module runs on the shards/ };
  assert.throws(() => scene.informer({ indexers, transform }), both);
  assert.throws(() => scene.informer({ indexers }).setTransform(transform), both);
  assert.throws(() => scene.informer({ transform }).addIndexers(indexers), both);
});

test('C62 a source that is none, and a resource that is only a name, are refused', async () => {
  await using scene = new Scene();
  const make = (source: unknown, resource: unknown) => () =>
    new SharedIndexInformer(source as never, resource as never, { threads: scene.threads });
  for (const source of [{}, null, 'https://example.com', { list: () => undefined }]) {
    assert.throws(make(source, PODS), refused('^the source cannot be used: it must be a KubeConfig'));
  }
  for (const resource of ['pods', undefined, null]) {
    assert.throws(
      make(scene.source, resource),
      refused('^resource must be .*such as resources.core.v1.pods'),
    );
  }
  const { kind: _kind, ...kindless } = PODS;
  assert.throws(make(scene.source, kindless), refused('^resource.kind must be text.*got undefined$'));
  assert.throws(make(scene.source, { ...PODS, isNamespaced: 'yes' }), refused('^resource.isNamespaced'));
});

test('C62 a handler without a method, or with one that cannot be called, is refused', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  const wrong: readonly (readonly [unknown, string])[] = [
    [{}, '^a handler must be an object with onAdd, onUpdate or onDelete, got an object$'],
    [{ onadd: () => undefined }, 'did you mean onAdd\\?'],
    [() => undefined, '^a handler must be an object .*got a function$'],
    [{ onAdd: () => undefined, onDelete: 'log' }, '^onDelete must be a function, got "log"$'],
  ];
  for (const [handler, message] of wrong) {
    assert.throws(() => informer.addEventHandler(handler as never), refused(message));
  }
  const good = { onAdd: () => undefined };
  assert.throws(
    () => informer.addEventHandler(good, { resyncMs: 5 } as never),
    refused('options of a handler have no "resyncMs": known are name, resyncPeriodMs'),
  );
  assert.throws(() => informer.addEventHandler(good, { name: 5 } as never), refused('^name must be text'));
  const registration = informer.addEventHandler(good);
  assert.throws(
    () => informer.removeEventHandler(registration, { dran: true } as never),
    refused('did you mean drain'),
  );
  await assert.rejects(informer.shutdown({ signal: 5 } as never), refused('^signal must be an AbortSignal'));
});

test('C62 a factory and a map of informers refuse when they are made, not when an informer is asked for', () => {
  const source = (): never => assert.fail('no informer is made');
  const kubeConfig = { server: 'https://127.0.0.1:1' };
  const wrong: readonly (readonly [object, string])[] = [
    [{ onEror: () => undefined }, 'did you mean onError'],
    [{ list: { pageSize: 0.5 } }, '^list.pageSize'],
    [{ backoff: { initialMs: 5, maxMs: 1 } }, '^backoff.initialMs'],
    [{ threads: 3 }, '^threads'],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => new SharedInformerFactory(source, options), refused(message));
    assert.throws(() => new InformersMap(kubeConfig, options), refused(message));
  }
  assert.throws(
    () => new SharedInformerFactory(source, { resyncPeriodMs: 5 } as never),
    refused('options of a factory have no "resyncPeriodMs"'),
  );
  assert.throws(() => new SharedInformerFactory({} as never), refused('^the source cannot be used'));
  assert.throws(() => new InformersMap({} as never), refused('^the source cannot be used'));
  const kinds: readonly (readonly [object, string])[] = [
    [{ of: { kind: 'Pod' }, labelSelektor: 'a' }, 'did you mean byKind.labelSelector'],
    [{ of: 'Pod' }, '^byKind.of'],
    [{ of: { kind: 'Pod' }, transform: { drop: ['data'] } }, '^transform'],
  ];
  for (const [kind, message] of kinds) {
    assert.throws(() => new InformersMap(kubeConfig, { byKind: [kind as never] }), refused(message));
  }
});
