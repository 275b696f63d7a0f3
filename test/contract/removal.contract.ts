/** Removal with `drain` of handlers and informers, and waiting for a last call. */
import assert from 'node:assert/strict';
import type { HandlerRegistration } from '../../src/index.ts';
import { configurationWasUsed } from './configuration.ts';
import { RecordingHandler, pod, pods, test, turns } from './scene.ts';

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
  const impatient = AbortSignal.abort(new Error('enough'));
  const refused = informer.shutDownEventHandler(registration, { signal: impatient });
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
