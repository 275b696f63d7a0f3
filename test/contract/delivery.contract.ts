/** Delivery: guarantees for a handler, independence between handlers, and removal with `drain`. */
import assert from 'node:assert/strict';
import type { HandlerRegistration } from '../../src/index.ts';
import { RecordingHandler, configurationWasUsed, pod, pods, test, turns } from './scene.ts';

test('C7 a handler receives one call at a time, in order, and one for each change', async (scene) => {
  let open = 0;
  let overlaps = 0;
  const handler = new RecordingHandler(async ({ version }) => {
    if (open++ > 0) overlaps++;
    if (Number(version) % 3 === 0) await new Promise(setImmediate);
    open--;
  });
  await scene.watching({}, handler);
  const versions: string[] = [];
  for (let round = 0; round < 20; round++)
    versions.push(...(await scene.put(pod('a', { round: `${round}` }), pod(`${round}`))));
  await handler.count(40);
  await turns();
  assert.equal(overlaps, 0);
  assert.deepEqual(handler.versions, versions);
});

test('C32 the promise of a call is awaited before the next call', async (scene) => {
  const { gate, held, prompt } = await scene.heldUp(({ key }) => key === 'default/a');
  await scene.put(pod('a'), pod('b'), pod('c'));
  await prompt.count(3);
  await turns();
  assert.deepEqual(held.names, ['add a']);
  gate.open();
  await held.count(3);
  assert.deepEqual(held.names, ['add a', 'add b', 'add c']);
});

test('C33 a handler that never returns delays no other handler', async (scene) => {
  await scene.populate(60);
  const { gate, held, prompt } = await scene.heldUp();
  await scene.put(pod('new'));
  await prompt.count(61);
  assert.equal(held.calls.length, 1);
  gate.open();
  await held.count(61);
  assert.deepEqual(held.lines, prompt.lines);
});

test('C34 an error of a handler is reported with object and registration, and the next call follows', async (scene) => {
  const handler = new RecordingHandler(({ key }) => {
    if (key === 'default/throws') throw new Error('thrown');
    return key === 'default/rejects' ? Promise.reject(new Error('rejected')) : undefined;
  });
  await scene.watching({ debug: { retainChecks: 'strict' } }, handler);
  await scene.put(pod('throws'), pod('rejects'), pod('good'));
  await handler.count(3);
  assert.deepEqual(handler.names, ['add throws', 'add rejects', 'add good']);
  const reported = scene.errors.map(({ message, context }) => {
    const { registeredAt = '', ...known } = context;
    assert.match(registeredAt, /scene\.js/);
    assert.deepEqual(known, { ...known, informer: 'pods (all namespaces)', handler: 'RecordingHandler' });
    return `${known.key}: ${message}`;
  });
  assert.deepEqual(reported, [
    'default/throws: event handler RecordingHandler threw for default/throws: thrown',
    'default/rejects: event handler RecordingHandler threw for default/rejects: rejected',
  ]);
});

test('C35 a handler that is registered twice receives every change twice, and each registration is removed alone', async (scene) => {
  const informer = scene.informer();
  const handler = new RecordingHandler();
  const others = new RecordingHandler();
  const first = informer.addEventHandler(handler);
  informer.addEventHandler(handler);
  await scene.watched(informer, others);
  await scene.put(pod('a'));
  await handler.count(2);
  informer.removeEventHandler(first);
  await scene.put(pod('b'));
  await others.count(2);
  await handler.count(3);
  await turns();
  assert.deepEqual(handler.names, ['add a', 'add a', 'add b']);
});

test('C8 C36 a removed handler receives nothing more, and its current call finishes before run() settles', async (scene) => {
  const informer = scene.informer();
  const gate = scene.gate();
  let isFinished = false;
  const removed = new RecordingHandler(async () => {
    await gate.opened;
    isFinished = true;
  });
  const others = new RecordingHandler();
  const registration = informer.addEventHandler(removed);
  const run = scene.run(informer);
  informer.addEventHandler(others);
  await informer.waitForSync();
  await scene.put(pod('a'), pod('b'), pod('c'));
  await others.count(3);
  await removed.count(1);
  informer.removeEventHandler(registration);
  assert.deepEqual([registration.backlog.notifications, registration.backlog.bytes], [0, 0]);
  let isStopped = false;
  void run.then(() => (isStopped = true));
  const stopped = informer[Symbol.asyncDispose]();
  await turns();
  assert.deepEqual([isFinished, isStopped], [false, false]);
  gate.open();
  await Promise.all([stopped, run]);
  assert.deepEqual([isFinished, isStopped], [true, true]);
  assert.deepEqual(removed.names, ['add a']);
});

test('C8 pending notifications are dropped when the informer stops', async (scene) => {
  const { informer, gate, held, registration, prompt } = await scene.heldUp();
  await scene.put(pod('a'), pod('b'));
  await prompt.count(2);
  await held.count(1);
  assert.equal(registration.backlog.notifications, 1);
  const stopped = informer[Symbol.asyncDispose]();
  await scene.until(() => registration.backlog.notifications === 0);
  gate.open();
  await stopped;
  await turns();
  assert.deepEqual(held.names, ['add a']);
});

test('C37 a handler may remove itself in a call; removing it again or removing an unknown one has no effect', async (scene) => {
  const informer = scene.informer();
  const other = scene.informer();
  const handler = new RecordingHandler(() => informer.removeEventHandler(registration));
  const registration = informer.addEventHandler(handler);
  const others = new RecordingHandler();
  const stays = informer.addEventHandler(others);
  await scene.synced(informer);
  await scene.put(pod('a'), pod('b'));
  await others.count(2);
  await turns();
  informer.removeEventHandler(registration);
  other.removeEventHandler(stays);
  await other.shutDownEventHandler(stays);
  await scene.put(pod('c'));
  await others.count(3);
  assert.deepEqual(handler.names, ['add a']);
});

test('C137 a handler that is removed with `drain` receives its pending notifications and nothing later', async (scene) => {
  await scene.put(pod('a'));
  const { informer, gate, held, registration, prompt } = await scene.heldUp();
  await held.count(1);
  await scene.put(pod('b'));
  await prompt.count(2);
  informer.removeEventHandler(registration, { drain: true });
  await scene.put(pod('c'));
  await prompt.count(3);
  gate.open();
  await informer.shutDownEventHandler(registration, { drain: true });
  assert.deepEqual(held.names, ['add a', 'add b']);
  assert.deepEqual(registration.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
});

test('C138 an informer that is shut down with `drain` delivers everything that it has received', async (scene) => {
  await scene.put(pod('a'));
  const { informer, gate, held, prompt } = await scene.heldUp();
  await scene.put(...pods(50));
  await prompt.count(51);
  let isOver = false;
  const shutdown = informer.shutdown({ drain: true }).then(() => (isOver = true));
  await turns();
  assert.equal(isOver, false);
  gate.open();
  await shutdown;
  assert.deepEqual(held.lines, prompt.lines);
});

test("C139 shutting a handler down ends after its last call and the call's promise, or with its signal", async (scene) => {
  const informer = scene.informer();
  const gate = scene.gate();
  const events: string[] = [];
  const handler = new RecordingHandler(async () => {
    await gate.opened;
    events.push('call');
  });
  const registration = informer.addEventHandler(handler);
  await scene.put(pod('a'), pod('b'));
  await scene.synced(informer);
  await handler.count(1);
  const impatient = new AbortController();
  const refused = informer.shutDownEventHandler(registration, { signal: impatient.signal });
  impatient.abort(new Error('enough'));
  await assert.rejects(refused, { message: 'enough' });
  const shutDown = informer.shutDownEventHandler(registration).then(() => events.push('over'));
  await turns();
  assert.deepEqual(events, []);
  gate.open();
  await shutDown;
  assert.deepEqual(events, ['call', 'over']);
  assert.deepEqual(handler.names, ['add a']);
});

test('C140 a handler that waits for its own end gets a coded error and is removed', async (scene) => {
  const informer = scene.informer();
  const outcomes: unknown[] = [];
  const handler = new RecordingHandler(async () => {
    const outcome = informer
      .shutDownEventHandler(registration)
      .catch((error: { code: string }) => error.code);
    // Waiting for itself would never end.
    outcomes.push(await Promise.race([outcome, turns().then(() => 'waits')]));
  });
  const registration: HandlerRegistration = informer.addEventHandler(handler);
  await scene.put(pod('a'), pod('b'));
  await scene.synced(informer);
  await scene.until(() => outcomes.length === 1);
  await informer.shutDownEventHandler(registration);
  assert.deepEqual([handler.names, outcomes], [['add a'], ['ERR_KUBELOOM_OWN_CALL']]);
});

configurationWasUsed();
