/** Delivery: guarantees for one handler, and independence between handlers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness, pod, turns } from './scene.ts';

test('C7 a handler receives one call at a time, in order, and one for each change', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  let open = 0;
  let overlaps = 0;
  const witness = new Witness(async ({ version }) => {
    if (open++ > 0) overlaps++;
    if (Number(version) % 3 === 0) await new Promise(setImmediate);
    open--;
  });
  await scene.watched(informer, witness);
  const versions: string[] = [];
  for (let round = 0; round < 20; round++)
    versions.push(...(await scene.put(pod('a', { round: `${round}` }), pod(`${round}`))));
  await witness.count(40);
  await turns();
  assert.equal(overlaps, 0);
  assert.deepEqual(
    witness.calls.map(({ version }) => version),
    versions,
  );
});

test('C32 the promise of a call is awaited before the next call', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const held = scene.gate();
  const witness = new Witness(({ key }) => (key === 'default/a' ? held.opened : undefined));
  const others = new Witness();
  informer.addEventHandler(witness);
  await scene.watched(informer, others);
  await scene.put(pod('a'), pod('b'), pod('c'));
  await others.count(3);
  await turns();
  assert.deepEqual(witness.names, ['add a']);
  held.open();
  await witness.count(3);
  assert.deepEqual(witness.names, ['add a', 'add b', 'add c']);
});

test('C33 a handler that never returns delays no other handler', async () => {
  await using scene = await Scene.start();
  await scene.populate(60);
  const informer = scene.informer();
  const held = scene.gate();
  const stuck = new Witness(() => held.opened);
  informer.addEventHandler(stuck);
  const witness = new Witness();
  await scene.watched(informer, witness);
  await scene.put(pod('new'));
  await witness.count(61);
  assert.equal(stuck.calls.length, 1);
  held.open();
  await stuck.count(61);
  assert.deepEqual(stuck.lines, witness.lines);
});

function thrown(key: string, message: string): string {
  return `event handler Witness threw for ${key}: ${message}`;
}

test('C34 an error of a handler is reported with object and registration, and the next call follows', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ borrowChecks: 'strict' });
  const witness = new Witness(({ key }) => {
    if (key === 'default/throws') throw new Error('thrown');
    return key === 'default/rejects' ? Promise.reject(new Error('rejected')) : undefined;
  });
  await scene.watched(informer, witness);
  await scene.put(pod('throws'), pod('rejects'), pod('good'));
  await witness.count(3);
  assert.deepEqual(witness.names, ['add throws', 'add rejects', 'add good']);
  assert.deepEqual(
    scene.errors.map(({ message, context }) => [message, context.key, context.informer, context.handler]),
    [
      [thrown('default/throws', 'thrown'), 'default/throws', 'pods (all namespaces)', 'Witness'],
      [thrown('default/rejects', 'rejected'), 'default/rejects', 'pods (all namespaces)', 'Witness'],
    ],
  );
  for (const { context } of scene.errors) assert.match(context.registeredAt ?? '', /scene\.js/);
});

test('C35 a handler that is registered twice receives every change twice, and each registration is removed alone', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const witness = new Witness();
  const others = new Witness();
  const first = informer.addEventHandler(witness);
  informer.addEventHandler(witness);
  await scene.watched(informer, others);
  await scene.put(pod('a'));
  await witness.count(2);
  informer.removeEventHandler(first);
  await scene.put(pod('b'));
  await others.count(2);
  await witness.count(3);
  await turns();
  assert.deepEqual(witness.names, ['add a', 'add a', 'add b']);
});

test('C8 C36 a removed handler receives nothing more, and its current call finishes before run() settles', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const held = scene.gate();
  let isFinished = false;
  const removed = new Witness(async () => {
    await held.opened;
    isFinished = true;
  });
  const others = new Witness();
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
  held.open();
  await Promise.all([stopped, run]);
  assert.deepEqual([isFinished, isStopped], [true, true]);
  assert.deepEqual(removed.names, ['add a']);
});

test('C8 pending notifications are dropped when the informer stops', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const held = scene.gate();
  const witness = new Witness(() => held.opened);
  const others = new Witness();
  const registration = informer.addEventHandler(witness);
  informer.addEventHandler(others);
  await scene.synced(informer);
  await scene.put(pod('a'), pod('b'));
  await others.count(2);
  await witness.count(1);
  assert.equal(registration.backlog.notifications, 1);
  const stopped = informer[Symbol.asyncDispose]();
  await scene.until(() => registration.backlog.notifications === 0);
  held.open();
  await stopped;
  await turns();
  assert.deepEqual(witness.names, ['add a']);
});

test('C37 a handler may remove itself in a call; removing it again or removing an unknown one has no effect', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const other = scene.informer();
  const witness = new Witness(() => informer.removeEventHandler(registration));
  const registration = informer.addEventHandler(witness);
  const others = new Witness();
  const stays = informer.addEventHandler(others);
  await scene.synced(informer);
  await scene.put(pod('a'), pod('b'));
  await others.count(2);
  await turns();
  informer.removeEventHandler(registration);
  other.removeEventHandler(stays);
  await scene.put(pod('c'));
  await others.count(3);
  assert.deepEqual(witness.names, ['add a']);
});

configurationWasUsed();
