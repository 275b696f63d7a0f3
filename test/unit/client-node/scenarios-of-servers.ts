/** Scenarios of lists, watches and errors of an apiserver. */
import { status } from '../../kit/scripted-server.ts';
import { NOT_RESTARTED, started } from './scenario.ts';
import type { Scenarios } from './scenario.ts';

const WEB_PODS = '/api/v1/namespaces/web/pods';
const INTERNAL = { type: 'ERROR', object: status(500, 'InternalError') };

export const SCENARIOS_OF_SERVERS: Scenarios = {
  'the first list is delivered before start() resolves, and cached': {
    covers: [
      'versions advance with events',
      'start() resolves with a filled cache',
      'connect is called at the start',
    ],
    async steps(stage) {
      const { informer, lines, world } = stage;
      const found = informer.get('a', 'default') ?? null;
      const before = [informer.list(), found, informer.latestResourceVersion()];
      for (const name of ['b', 'a']) world.put(name);
      await informer.start();
      return [before, lines, stage.names(), informer.latestResourceVersion()];
    },
    expected: [[[], null, ''], ['connect', 'add b', 'add a'], ['b', 'a'], '12'],
  },
  'changes are delivered in their order': {
    covers: ['events call the callbacks of their verbs'],
    async steps(stage) {
      await started(stage, 'a', 'b');
      stage.world.put('c');
      stage.world.put('a');
      stage.world.remove('b');
      stage.world.put('b');
      stage.world.remove('c');
      return [await stage.settled(), stage.names()];
    },
    expected: [
      ['add c', 'update a', 'delete b', 'add b', 'delete c'],
      ['a', 'b'],
    ],
  },
  'an event decides by the cache whether it is an addition: its type does not': {
    covers: ['the deletion of an unknown object changes nothing', 'one version is delivered once'],
    async steps(stage) {
      await started(stage, 'a');
      const object = (name: string, resourceVersion: string) => {
        const metadata = { name, namespace: 'default', resourceVersion };
        return { kind: 'Pod', apiVersion: 'v1', metadata };
      };
      stage.world.send(
        { type: 'MODIFIED', object: object('new', '100') },
        { type: 'ADDED', object: object('new', '101') },
        { type: 'ADDED', object: object('new', '101') },
        { type: 'DELETED', object: object('unknown', '102') },
      );
      await stage.seen('update new');
      stage.world.skipTo(200);
      return stage.settled();
    },
    expected: ['add new', 'update new'],
  },
  'a bookmark moves the version and calls no callback': {
    covers: ['versions advance with bookmarks'],
    async steps(stage) {
      await started(stage, 'a');
      const version = stage.world.bookmark();
      await stage.until(() => stage.informer.latestResourceVersion() === version);
      return stage.lines;
    },
    expected: [],
  },
  'a watch that the server ends is continued without a list': {
    covers: ['the first list adds, and the next watch does not repeat it'],
    async steps(stage) {
      await started(stage, 'a');
      stage.world.put('b');
      await stage.seen('add b');
      stage.world.close();
      await stage.seen('connect');
      stage.world.put('a');
      return [await stage.settled(), stage.world.requests];
    },
    expected: [
      ['add b', 'connect', 'update a'],
      ['list /api/v1/pods', 'watch /api/v1/pods', 'watch /api/v1/pods'],
    ],
  },
  'an ERROR event for an expired version leads to a list, whose difference is delivered': {
    covers: [
      'a list after 410 updates and deletes',
      'a list deletes exactly the missing objects',
      '410 as an event lists',
    ],
    async steps(stage) {
      await started(stage, 'a', 'b', 'c', 'd');
      stage.world.expire(() => {
        stage.world.put('c');
        stage.world.remove('b');
        stage.world.put('e');
        stage.world.remove('d');
        stage.world.put('a');
      });
      await stage.seen('add e');
      return [await stage.settled(), stage.names()];
    },
    expected: [
      ['connect', 'delete b', 'delete d', 'update a', 'update c', 'add e'],
      ['a', 'c', 'e'],
    ],
  },
  'a watch refused with 410 leads to a list, whose difference is delivered': {
    covers: ['410 as a status lists'],
    async steps(stage) {
      await started(stage, 'a', 'b');
      stage.world.put('c');
      await stage.seen('add c');
      stage.world.expire(() => {
        stage.world.remove('a');
        stage.world.put('d');
      }, false);
      await stage.seen('add d');
      return [await stage.settled(), stage.world.requests];
    },
    expected: [
      ['add c', 'connect', 'connect', 'delete a', 'add d'],
      ['list', 'watch', 'watch', 'list', 'watch'].map((verb) => `${verb} /api/v1/pods`),
    ],
  },
  'a relist that finds another object under a known name delivers an update': {
    async steps(stage) {
      await started(stage, 'a');
      stage.world.expire(() => {
        stage.world.remove('a');
        stage.world.put('a', { metadata: { uid: 'another' } });
      });
      await stage.seen('connect');
      const lines = await stage.settled();
      return [lines, stage.informer.get('a', 'default')?.metadata?.uid];
    },
    expected: [['connect', 'update a'], 'another'],
  },
  'a relist that finds other content under a known version': {
    async steps(stage) {
      await started(stage, 'a');
      stage.world.expire(() => stage.world.replaceSilently('a', { spec: { nodeName: 'other' } }));
      await stage.seen('connect');
      return [await stage.settled(), stage.informer.get('a', 'default')?.spec?.nodeName ?? null];
    },
    expected: [['connect'], null],
    kubeloom: { row: 'Content that changes under one version', expected: [['connect', 'update a'], 'other'] },
  },
  'a cut connection is an error, and the program that starts again misses nothing': {
    covers: ['connect is called by a start after an error'],
    async steps(stage) {
      await started(stage, 'a', 'b');
      stage.world.put('c');
      await stage.seen('add c');
      stage.world.cut(() => {
        stage.world.put('a');
        stage.world.remove('b');
      });
      await stage.seen('delete b');
      return stage.settled();
    },
    expected: ['add c', 'error', 'connect', 'update a', 'delete b'],
  },
  'an error without a restart': {
    covers: ['an error ends the watch'],
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a');
      stage.world.put('b');
      await stage.seen('add b');
      stage.world.cut();
      await stage.seen('error');
      if (stage.isKubeloom) return stage.settled();
      await stage.world.quiet();
      return stage.lines;
    },
    expected: ['add b', 'error'],
    kubeloom: { row: 'Errors', expected: ['add b', 'error', 'connect'] },
  },
  'a refused watch is an error': {
    async steps(stage) {
      stage.world.refuse('watch', 403);
      stage.world.put('a');
      await stage.informer.start();
      await stage.seen('error');
      stage.world.put('b');
      return stage.settled();
    },
    expected: ['connect', 'add a', 'error', 'connect', 'add b'],
  },
  'a refused list is an error, and the program that starts again receives the list': {
    covers: ['an error of the first list is reported'],
    async steps(stage) {
      stage.world.refuse('list', 403, 2);
      stage.world.put('a');
      await stage.informer.start();
      return stage.settled();
    },
    expected: ['connect', 'error', 'connect', 'error', 'connect', 'add a'],
  },
  'start() with a list that fails': {
    options: NOT_RESTARTED,
    async steps(stage) {
      stage.world.refuse('list', 500);
      stage.world.put('a');
      await stage.informer.start();
      return stage.names();
    },
    expected: [],
    kubeloom: { row: '`start()` when the list fails', expected: ['a'] },
  },
  'an error tells the status of the answer': {
    options: NOT_RESTARTED,
    async steps(stage) {
      stage.world.refuse('watch', 403);
      await stage.informer.start();
      await stage.seen('error');
      const [error] = stage.errors as readonly object[];
      return Object.entries(error ?? {}).filter(([, value]) => value === 403);
    },
    expected: [['statusCode', 403]],
    kubeloom: {
      row: 'The value of `error`',
      expected: [
        ['code', 403],
        ['statusCode', 403],
      ],
    },
  },
  'a branch on the status of an error is taken': {
    options: NOT_RESTARTED,
    async steps(stage) {
      const { informer, world } = stage;
      world.refuse('list', 403);
      world.refuse('watch', 500);
      await informer.start();
      if (!stage.isKubeloom) await informer.start();
      await stage.until(() => stage.errors.length === 2);
      const errors = stage.errors as readonly { code?: number; statusCode?: number }[];
      return errors.map(({ code, statusCode }) => code ?? statusCode);
    },
    expected: [403, 500],
  },
  'an ERROR event of the server': {
    async steps(stage) {
      await started(stage, 'a');
      stage.world.send(INTERNAL);
      if (stage.isKubeloom) await stage.seen('connect');
      return stage.settled();
    },
    expected: [],
    kubeloom: { row: '`ERROR` events of the server', expected: ['error', 'connect'] },
  },
  'a list without a namespace empties it': {
    covers: ['a relist removes what is gone'],
    async steps(stage) {
      const { world } = stage;
      for (const namespace of ['one', 'two']) world.put('a', { namespace });
      await stage.informer.start();
      await world.watching();
      world.expire(() => world.remove('a', 'two'));
      await stage.settled();
      return [stage.names('one'), stage.names('two'), stage.names()];
    },
    expected: [['a'], [], ['a']],
  },
  'the watch selects by label and field': {
    covers: ['selectors are sent'],
    options: { labelSelector: 'app=web', fieldSelector: 'spec.nodeName=n', path: WEB_PODS },
    async steps(stage) {
      await stage.informer.start();
      await stage.settled();
      return stage.world.requests.filter((request) => request.startsWith('watch'));
    },
    expected: ['watch /api/v1/namespaces/web/pods app=web spec.nodeName=n'],
  },
  'the list': {
    options: { labelSelector: 'app=web', path: WEB_PODS },
    async steps(stage) {
      await stage.informer.start();
      return stage.world.requests.filter((request) => request.startsWith('list'));
    },
    expected: ['list /api/v1/pods'],
    kubeloom: { row: 'The list function', expected: ['list /api/v1/namespaces/web/pods app=web'] },
  },
};
