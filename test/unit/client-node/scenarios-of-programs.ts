/** Scenarios of callbacks, of start and stop, and of reads of the cache. */
import { NOT_RESTARTED, started } from './scenario.ts';
import type { Scenarios } from './scenario.ts';
import { nameOf } from './stage.ts';

const REFUSAL = 'unknown verb: random';

export const SCENARIOS_OF_PROGRAMS: Scenarios = {
  'stop() ends the events and keeps the objects': {
    covers: ['nothing runs between stop() and start()'],
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a');
      const version = stage.informer.latestResourceVersion();
      await stage.informer.stop();
      stage.world.put('b');
      await stage.world.quiet();
      const isVersionKept = stage.informer.latestResourceVersion() === version;
      return [stage.names(), isVersionKept, stage.lines.filter((line) => line !== 'error')];
    },
    expected: [['a'], true, []],
  },
  'the events of stop()': {
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a');
      await stage.informer.stop();
      await stage.world.quiet();
      return stage.lines;
    },
    expected: ['error'],
    kubeloom: { row: '`error` after `stop()`', expected: [] },
  },
  'a start after stop() delivers what has changed': {
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a', 'b', 'c');
      const [kept] = stage.informer.list();
      await stage.informer.stop();
      stage.world.remove('b');
      stage.world.put('c');
      stage.world.put('d');
      stage.lines.length = 0;
      await stage.informer.start();
      const lines = (await stage.settled()).filter((line) => line !== 'error');
      return [lines, stage.names(), stage.informer.get('a', 'default') === kept];
    },
    expected: [['connect', 'delete b', 'update c', 'add d'], ['a', 'c', 'd'], true],
  },
  'changes while it is stopped': {
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a', 'z');
      await stage.informer.stop();
      stage.world.put('a');
      stage.world.put('a');
      stage.world.put('short');
      stage.world.remove('short');
      stage.world.remove('z');
      stage.world.put('b');
      await stage.informer.start();
      return (await stage.settled()).filter((line) => line !== 'error');
    },
    expected: ['connect', 'update a', 'update a', 'add short', 'delete short', 'delete z', 'add b'],
    kubeloom: { row: '`start()` after `stop()`', expected: ['connect', 'delete z', 'update a', 'add b'] },
  },
  'start() while it runs': {
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a');
      await stage.informer.start();
      return (await stage.settled()).toSorted();
    },
    expected: ['connect', 'error'],
    kubeloom: { row: '`start()` while it runs', expected: [] },
  },
  'it starts by itself with autoStart': {
    options: { autoStart: true },
    async steps(stage) {
      return stage.settled();
    },
    expected: [],
    kubeloom: { row: '`connect` of an automatic start', expected: ['connect'] },
  },
  'objects are found by name and namespace': {
    covers: ['list() and get() follow list and events', 'namespaces are separate'],
    async steps(stage) {
      const { world, informer } = stage;
      world.put('a');
      world.put('a', { namespace: 'web' });
      await informer.start();
      world.put('b', { namespace: 'web' });
      world.put('c', { namespace: 'new' });
      await stage.settled();
      world.remove('c', 'new');
      await stage.settled();
      const found = informer.get('a', 'web')?.metadata;
      return [
        stage.names(),
        stage.names('web'),
        stage.names('new'),
        stage.names('nowhere'),
        [found?.name, found?.namespace, informer.get('a') ?? null, informer.get('b', 'default') ?? null],
        informer.get('a', 'web') === informer.list('web')[0],
      ];
    },
    expected: [['a', 'a', 'b'], ['a', 'b'], [], [], ['a', 'web', null, null], true],
  },
  'cluster-scoped objects are found without a namespace': {
    covers: ['objects without a namespace are found'],
    options: { path: '/api/v1/namespaces', kind: 'Namespace' },
    async steps(stage) {
      stage.world.put('a', { namespace: '' });
      await stage.informer.start();
      stage.world.put('b', { namespace: '' });
      await stage.seen('add b');
      return [stage.lines, stage.names(), stage.names('a'), nameOf(stage.informer.get('b') ?? {})];
    },
    expected: [['connect', 'add a', 'add b'], ['a', 'b'], [], 'b'],
  },
  'the cache has changed when callbacks are called, and has what they receive': {
    async steps(stage) {
      const { informer, world } = stage;
      const seen: unknown[] = [];
      for (const verb of ['add', 'update', 'delete'] as const) {
        informer.on(verb, (object) => {
          seen.push([verb, stage.names(), informer.get(nameOf(object), 'default') === object]);
        });
      }
      world.put('a');
      world.put('b');
      await informer.start();
      world.put('a');
      await stage.seen('update a');
      world.remove('b');
      await stage.seen('delete b');
      return seen;
    },
    expected: [
      ['add', ['a'], true],
      ['add', ['a', 'b'], true],
      ['update', ['a', 'b'], true],
      ['delete', ['a'], false],
    ],
  },
  'callbacks are called in the order of their registration, as often as they were registered': {
    covers: [
      'change is all three verbs',
      'several callbacks of one verb are called',
      'a removed callback is not called',
    ],
    async steps(stage) {
      const { informer, world } = stage;
      const called: string[] = [];
      const twice = (): void => void called.push('twice');
      informer.on('add', () => called.push('first'));
      informer.on('add', twice);
      informer.on('change', (object) => called.push(`change ${nameOf(object)}`));
      informer.on('add', twice);
      world.put('a');
      await informer.start();
      informer.off('add', twice);
      world.put('b');
      await stage.seen('add b');
      world.remove('b');
      await stage.seen('delete b');
      return called;
    },
    expected: ['first', 'twice', 'change a', 'twice', 'first', 'change b', 'twice', 'change b'],
  },
  'off(change) removes the callback from all three verbs': {
    covers: ['off(change) removes all three'],
    async steps(stage) {
      const { informer, world } = stage;
      const called: string[] = [];
      const change = (): void => void called.push('change');
      informer.on('change', change);
      await started(stage, 'a');
      informer.off('change', change);
      world.put('b');
      world.put('a');
      world.remove('a');
      return [called, await stage.settled()];
    },
    expected: [['change'], ['add b', 'update a', 'delete a']],
  },
  'callbacks that are added later receive later changes only': {
    async steps(stage) {
      await started(stage, 'a');
      const called: string[] = [];
      stage.informer.on('add', (object) => called.push(nameOf(object)));
      stage.world.put('b');
      await stage.seen('add b');
      return called;
    },
    expected: ['b'],
  },
  'callbacks may remove and add callbacks': {
    covers: ['a callback may remove itself'],
    async steps(stage) {
      const { informer, world } = stage;
      const called: string[] = [];
      const once = (object: object): void => {
        called.push(`once ${nameOf(object)}`);
        informer.off('add', once);
        informer.on('add', (later) => called.push(`later ${nameOf(later)}`));
      };
      informer.on('add', once);
      informer.on('add', (object) => called.push(`always ${nameOf(object)}`));
      world.put('a');
      await informer.start();
      world.put('b');
      await stage.seen('add b');
      return called;
    },
    expected: ['once a', 'always a', 'always b', 'later b'],
  },
  'off() ignores what is not registered, and an unknown verb is refused': {
    covers: [
      'on() refuses an unknown verb',
      'off() refuses an unknown verb',
      'off() of an unknown callback does nothing',
    ],
    async steps({ informer }) {
      informer.off('change', () => undefined);
      const refusals: string[] = [];
      for (const method of ['on', 'off'] as const) {
        try {
          informer[method]('random' as 'add', () => undefined);
        } catch (error) {
          refusals.push((error as Error).message.toLowerCase().slice(0, REFUSAL.length));
        }
      }
      return refusals;
    },
    expected: [REFUSAL, REFUSAL],
  },
  'the requests of a start after stop()': {
    covers: ['a restart continues at the last version'],
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a');
      await stage.informer.stop();
      await stage.informer.start();
      await stage.world.watching();
      return stage.world.requests;
    },
    expected: ['list /api/v1/pods', 'watch /api/v1/pods', 'watch /api/v1/pods'],
    kubeloom: {
      row: '`start()` after `stop()`',
      expected: ['list /api/v1/pods', 'watch /api/v1/pods', 'list /api/v1/pods'],
    },
  },
  'a start after stop() whose version has expired lists, without an error': {
    covers: ['a restart lists when its version has expired'],
    options: NOT_RESTARTED,
    async steps(stage) {
      await started(stage, 'a');
      await stage.informer.stop();
      await stage.world.quiet();
      stage.world.expire(() => stage.world.put('b'));
      stage.lines.length = 0;
      await stage.informer.start();
      await stage.seen('add b');
      return (await stage.settled()).filter((line) => line !== 'connect');
    },
    expected: ['add b'],
  },
  'a callback that throws': {
    options: NOT_RESTARTED,
    async steps(stage) {
      stage.informer.on('add', () => {
        throw new Error('of the callback');
      });
      let called = false;
      stage.informer.on('add', () => void (called = true));
      stage.world.put('a');
      const end = await stage.informer.start().then(
        () => 'resolves',
        () => 'rejects',
      );
      return [end, called, stage.lines];
    },
    expected: ['rejects', false, ['connect', 'add a']],
    kubeloom: { row: 'Callbacks that throw', expected: ['resolves', true, ['connect', 'add a', 'error']] },
  },
};
