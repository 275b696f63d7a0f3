/** A valid call of every public function and constructor: the test replaces each part of it by hostile values. */
import * as main from '../../src/index.ts';
import * as clientGo from '../../src/client-go/index.ts';
import * as clientNode from '../../src/client-node/index.ts';
import * as controller from '../../src/controller/index.ts';
import * as metrics from '../../src/metrics/index.ts';
import * as opentelemetry from '../../src/metrics/opentelemetry.ts';
import * as prometheus from '../../src/metrics/prometheus.ts';
import * as partitions from '../../src/partitions/index.ts';
import * as testing from '../../src/tools/apiserver/testing/index.ts';
import * as thread from '../../src/thread/index.ts';
import * as workqueue from '../../src/workqueue/index.ts';
import { CONFIG_MAPS, kubeConfigFor } from '../security/bare-server.ts';
import { TOKEN } from './hostile.ts';

/** The public entries. Of `client-node` only the names that it does not pass on. */
export const ENTRIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  main,
  'client-go': clientGo,
  'client-node': {
    ListWatch: clientNode.ListWatch,
    makeInformer: clientNode.makeInformer,
    fromModel: clientNode.fromModel,
    toModel: clientNode.toModel,
  },
  controller,
  metrics,
  opentelemetry,
  prometheus,
  partitions,
  testing,
  thread,
  workqueue,
};

/** Names whose calls do not come from programs, and why. */
export const NOT_CALLED: Readonly<Record<string, string>> = {
  DeletedFinalStateUnknown: 'an informer makes it',
  InformerFactory: 'abstract',
  KubeStatusError: 'the answer of a server makes it',
  Lister: 'an informer makes it',
  NamespaceLister: 'a lister makes it',
  startEmbeddedApiServer: 'each valid call starts a thread: test/unit/tools/apiserver/start.test.ts',
};

const CONFIG = kubeConfigFor('https://127.0.0.1:1', { token: TOKEN });
const OBJECT = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'd', uid: 'u', resourceVersion: '1' } }; // prettier-ignore
const { metaNamespaceKeyFunc } = clientGo;
const ABORTED = AbortSignal.abort(new main.KubeloomError('ERR_KUBELOOM_STOPPED', 'the test has ended'));
const nothing = (): void => {};
const HANDLER = { onAdd: nothing, onUpdate: nothing, onDelete: nothing };
const LIST = { metadata: { resourceVersion: '1' }, items: [OBJECT] };
const DELTAS = [{ type: 'Added', object: OBJECT }];
const CHANGE = { type: 'update', previous: OBJECT, object: OBJECT };
const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
const SHARDS = {
  key: 'object.metadata.uid',
  ranges: [{ start: '0x0000000000000000', end: '0x8000000000000000' }],
};

const source = (): object =>
  new clientGo.ListWatch<object>({
    list: () => Promise.reject(new Error('no list')),
    watch: () => Promise.reject(new Error('no watch')),
  });
const indexer = (): object => clientGo.newIndexer<object>(metaNamespaceKeyFunc, {});
const limiter = (): object => new workqueue.ItemExponentialFailureRateLimiter<string>(5, 1000);
const client = (): controller.ObjectClient => new controller.ObjectClient(CONFIG);
const factory = (): object => new main.SharedInformerFactory(CONFIG);
const queue = (): object =>
  new clientGo.RealFIFO({
    keyFunction: metaNamespaceKeyFunc,
    knownObjects: clientGo.newIndexer(metaNamespaceKeyFunc, {}),
  });
const closedQueue = (): object => {
  const closed = new workqueue.RateLimitingQueue<string>();
  closed.shutDown();
  return closed;
};
const meter = (): object => ({
  createObservableGauge: () => ({}),
  createObservableCounter: () => ({}),
  createHistogram: () => ({}),
  addBatchObservableCallback: nothing,
  removeBatchObservableCallback: nothing,
});

type Arguments = () => readonly unknown[];

/** The arguments of a valid call. */
export const CALLS: Readonly<Record<string, Arguments>> = {
  'main.compareResourceVersions': () => ['1', '2'],
  'main.createModelConverter': () => [clientNode],
  'main.defaultIndexerThreads': () => [2],
  'main.drop': () => ['metadata.managedFields'],
  'main.field': () => ['spec.nodeName'],
  'main.indexModule': () => ['file:///index.js', 'index'],
  'main.InformerThreads': () => [{ indexerThreads: 0 }],
  'main.isComparableResourceVersion': () => ['1'],
  'main.KubeloomError': () => ['ERR_KUBELOOM_OPTION', 'x', {}],
  'main.label': () => ['app'],
  'main.LabelSelector': () => [[{ key: 'a', operator: '=', values: ['b'] }]],
  'main.labelSelectorAsSelector': () => [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] }], // prettier-ignore
  'main.LoadedKubeConfig': () => [{ clusters: [], users: [], contexts: [], currentContext: '' }],
  'main.loadKubeConfig': () => [{ path: '/absent', context: 'x' }],
  'main.namespaceIndex': () => [],
  'main.NotFoundError': () => ['x'],
  'main.NotSyncedError': () => ['x', [{ name: 'a', isDone: false, why: 'b' }], undefined],
  'main.ownerUid': () => [],
  'main.parseFieldSelector': () => ['a=b'],
  'main.parseLabelSelector': () => ['a=b'],
  'main.parseShardSelector': () => [main.shardSelectorText(main.partitionRanges([0], 2))],
  'main.partitionRanges': () => [[0], 2, 'object.metadata.uid'],
  'main.resourcePath': () => [CONFIG_MAPS, 'd'],
  'main.restrictCredentialPlugins': () => [CONFIG, { policyType: 'DenyAll' }],
  'main.shardSelectorText': () => [SHARDS],
  'main.SharedIndexInformer': () => [CONFIG, CONFIG_MAPS, {}],
  'main.SharedInformerFactory': () => [CONFIG, {}],
  'main.transformModule': () => ['file:///transform.js', 'transform'],
  'main.waitFor': () => ['x', { signal: ABORTED }, { name: 'a', isDone: true }],
  'main.waitForCacheSync': () => [[{ name: 'a', hasSynced: () => true }], { signal: ABORTED }],
  'client-go.AsyncTracker': () => ['x'],
  'client-go.builtInResources': () => [],
  'client-go.CacheMutationDetector': () => [{}],
  'client-go.Controller': () => [{ listerWatcher: source(), queue: queue(), process: nothing }], // prettier-ignore
  'client-go.deletedObject': () => [OBJECT],
  'client-go.deletionHandlingMetaNamespaceKeyFunc': () => [OBJECT],
  'client-go.deletionHandlingObjectToName': () => [OBJECT],
  'client-go.DeltaFIFO': () => [{ keyFunction: metaNamespaceKeyFunc, knownObjects: indexer() }],
  'client-go.DynamicSharedInformerFactory': () => [CONFIG, {}],
  'client-go.eachListItem': () => [LIST, nothing],
  'client-go.ErrRequeue': () => [new Error('x')],
  'client-go.ExpirationCache': () => [
    metaNamespaceKeyFunc,
    new clientGo.TTLPolicy(5),
    new testing.FakeClock(),
  ],
  'client-go.ExplicitKey': () => ['x'],
  'client-go.extractList': () => [LIST],
  'client-go.FIFO': () => [{ keyFunction: metaNamespaceKeyFunc }],
  'client-go.FilteringResourceEventHandler': () => [{ filterFunc: () => true, handler: HANDLER }],
  'client-go.findBuiltIn': () => [{ group: '', version: 'v1', resource: 'pods' }],
  'client-go.Heap': () => [metaNamespaceKeyFunc, () => true],
  'client-go.indexFuncToKeyFuncAdapter': () => [() => ['x']],
  'client-go.isListType': () => [LIST],
  'client-go.isObjectDelta': () => [DELTAS[0]],
  'client-go.isTombstone': () => [OBJECT],
  'client-go.KeyError': () => [OBJECT, new Error('x')],
  'client-go.Lazy': () => [() => 7],
  'client-go.listAccessor': () => [LIST],
  'client-go.ListPager': () => [() => Promise.resolve(LIST), {}],
  'client-go.ListWatch': () => [
    { list: () => Promise.resolve(LIST), watch: () => Promise.reject(new Error('x')) },
  ],
  'client-go.MetadataInformerFactory': () => [CONFIG, {}],
  'client-go.metaNamespaceIndexFunc': () => [OBJECT],
  'client-go.metaNamespaceKeyFunc': () => [OBJECT],
  'client-go.metaObjectToName': () => [OBJECT.metadata],
  'client-go.MutationCache': () => [indexer(), {}],
  'client-go.MutationError': () => ['x', { name: 'x', key: 'd/a', paths: [] }],
  'client-go.nameForHandler': () => [HANDLER],
  'client-go.newController': () => [{ listerWatcher: source(), queue: queue(), process: nothing }], // prettier-ignore
  'client-go.newestDelta': () => [DELTAS],
  'client-go.newFilteredListWatchFromClient': () => [CONFIG, CONFIG_MAPS, 'd', nothing],
  'client-go.newIndexer': () => [metaNamespaceKeyFunc, { n: () => [] }, {}],
  'client-go.newIndexerInformer': () => [source(), { kind: 'ConfigMap' }, 0, HANDLER, { n: () => [] }],
  'client-go.newInformer': () => [source(), { kind: 'ConfigMap' }, 0, HANDLER],
  'client-go.newInformerWithOptions': () => [
    { listerWatcher: source(), handler: HANDLER, resyncPeriodMs: 0 },
  ],
  'client-go.newListWatchFromClient': () => [CONFIG, CONFIG_MAPS, 'd', 'a=b'],
  'client-go.newNamespaceKeyedIndexerAndReflector': () => [source(), { kind: 'ConfigMap' }, 0, {}],
  'client-go.newSharedIndexInformer': () => [CONFIG, CONFIG_MAPS, 0, {}],
  'client-go.newSharedIndexInformerWithOptions': () => [CONFIG, CONFIG_MAPS, {}],
  'client-go.newSharedInformer': () => [CONFIG, CONFIG_MAPS, 0],
  'client-go.newStore': () => [metaNamespaceKeyFunc, {}],
  'client-go.newTransformingIndexerInformer': () => [
    source(),
    undefined,
    0,
    HANDLER,
    {},
    (object: object) => object,
  ],
  'client-go.newTransformingInformer': () => [source(), undefined, 0, HANDLER, (object: object) => object],
  'client-go.newTTLStore': () => [metaNamespaceKeyFunc, 5, new testing.FakeClock()],
  'client-go.ObjectName': () => ['d', 'a'],
  'client-go.ObjectOrMetadataInformerFactory': () => [
    factory(),
    new clientGo.MetadataInformerFactory(CONFIG),
  ],
  'client-go.objectToName': () => [OBJECT],
  'client-go.oldestDelta': () => [DELTAS],
  'client-go.parseObjectName': () => ['d/a'],
  'client-go.processDeltas': () => [HANDLER, indexer(), DELTAS, true, metaNamespaceKeyFunc],
  'client-go.processDeltasInBatch': () => [HANDLER, indexer(), DELTAS, true],
  'client-go.RealFIFO': () => [{ keyFunction: metaNamespaceKeyFunc, knownObjects: indexer() }],
  'client-go.Reflector': () => [source(), { kind: 'ConfigMap' }, indexer(), { backoff: { initialMs: 1 } }],
  'client-go.ResourceEventHandlerDetailedFuncs': () => [HANDLER],
  'client-go.ResourceEventHandlerFuncs': () => [HANDLER],
  'client-go.SingleFileTracker': () => ['x'],
  'client-go.splitMetaNamespaceKey': () => ['d/a'],
  'client-go.ThreadSafeStore': () => [{}, {}],
  'client-go.tombstone': () => ['d/a', OBJECT],
  'client-go.TransactionError': () => [[0], 2, [new Error('x')]],
  'client-go.TTLPolicy': () => [5, new testing.FakeClock()],
  'client-go.UndeltaStore': () => [nothing, metaNamespaceKeyFunc],
  'client-go.waitForNamedCacheSync': () => ['x', [{ name: 'a', hasSynced: () => true }], { signal: ABORTED }],
  'client-node.ListWatch': () => ['/api/v1/pods', { config: CONFIG }, nothing, false, 'a=b', 'c=d', {}],
  'client-node.makeInformer': () => [CONFIG, '/api/v1/pods', nothing, 'a=b', 'c=d', {}],
  'client-node.fromModel': () => [new clientNode.V1Pod(), {}],
  'client-node.toModel': () => [OBJECT, {}],
  'controller.addFinalizer': () => [client(), CONFIG_MAPS, OBJECT, 'x.io/y', { signal: ABORTED }],
  'controller.and': () => [() => true],
  'controller.annotationsChanged': () => [CHANGE],
  'controller.applied': () => [OBJECT, OBJECT, {}],
  'controller.controllerReference': () => [{ group: '', version: 'v1', kind: 'ConfigMap' }, OBJECT],
  'controller.EventRecorder': () => [client(), { component: 'x' }],
  'controller.generationChanged': () => [CHANGE],
  'controller.hasFinalizer': () => [OBJECT, 'x.io/y'],
  'controller.InformersMap': () => [CONFIG, {}],
  'controller.labelsChanged': () => [CHANGE],
  'controller.LeaderElector': () => [
    { ...TIMES, client: client(), namespace: 'd', name: 'l', identity: 'i' },
  ],
  'controller.Manager': () => [CONFIG, {}],
  'controller.not': () => [() => true],
  'controller.NotCachedError': () => ['x', 'y'],
  'controller.ObjectClient': () => [CONFIG],
  'controller.or': () => [() => true],
  'controller.patchCondition': () => [
    client(),
    CONFIG_MAPS,
    OBJECT,
    { type: 'Ready', status: 'True', reason: 'R', message: '' },
    { signal: ABORTED },
  ],
  'controller.removeFinalizer': () => [client(), CONFIG_MAPS, OBJECT, 'x.io/y', { signal: ABORTED }],
  'controller.resourceVersionChanged': () => [CHANGE],
  'controller.RestMapper': () => [{ getJson: () => Promise.resolve({}) }],
  'controller.retryOnConflict': () => [() => 7, {}],
  'controller.setCondition': () => [
    [],
    { type: 'Ready', status: 'True', reason: 'x', message: '' },
    new Date(0),
  ],
  'controller.specChanged': () => [CHANGE],
  'controller.statusChanged': () => [CHANGE],
  'metrics.collectMetrics': () => [],
  'metrics.prometheusText': () => [[]],
  'metrics.serveHealth': () => [{ port: 0 }],
  'metrics.serveStats': () => [{ port: 0 }],
  'metrics.statsSnapshot': () => [],
  'opentelemetry.instrument': () => [meter()],
  'opentelemetry.startTracing': () => [{ startSpan: nothing, startActiveSpan: nothing }],
  'prometheus.register': () => [{ registerMetric: nothing, removeSingleMetric: nothing }],
  'partitions.PartitionedManager': () => [CONFIG, { name: 'g', namespace: 'd' }],
  'partitions.PartitionGroup': () => [CONFIG, { name: 'g', namespace: 'd' }],
  'testing.FakeClock': () => [0],
  'testing.FakeControllerSource': () => [{}],
  'testing.seededRandom': () => [7],
  'testing.settled': () => [],
  'thread.openCache': () => [undefined, {}],
  'thread.ReconcilerPool': () => ['file:///reconcile.js', { cache: { port: nothing, close: nothing } }],
  'thread.SharedCache': () => [{ pods: { attachReader: nothing } }],
  'thread.TerminalError': () => ['x', {}],
  'workqueue.BucketRateLimiter': () => [10, 100, new testing.FakeClock()],
  'workqueue.defaultControllerRateLimiter': () => [new testing.FakeClock()],
  'workqueue.defaultItemBasedRateLimiter': () => [],
  'workqueue.DelayingQueue': () => [{}],
  'workqueue.ItemExponentialFailureRateLimiter': () => [5, 1000],
  'workqueue.ItemFastSlowRateLimiter': () => [5, 1000, 3],
  'workqueue.MaxOfRateLimiter': () => [limiter()],
  'workqueue.parallelizeUntil': () => [2, 3, nothing, { signal: ABORTED }],
  'workqueue.PriorityQueue': () => [{}],
  'workqueue.RateLimitingQueue': () => [{}],
  'workqueue.runWorkers': () => [closedQueue(), 1, nothing, {}],
  'workqueue.TerminalError': () => ['x', {}],
  'workqueue.WithMaxWaitRateLimiter': () => [limiter(), 1000],
  'workqueue.WorkQueue': () => [{}],
};
