/** The lines of an election in the log of the program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordingLogger } from '../../../kit/recording-logger.ts';
import { Scene } from './scene.ts';

test('an election writes lines to a log: each new leader, and each failed request, which also goes to onError', async ({
  mock,
}) => {
  const warned = mock.method(process, 'emitWarning', () => undefined);
  const log = new RecordingLogger();
  const scene = new Scene('me', { log });
  scene.lock.before = (operation, number) => {
    if (operation === 'create' && number === 1) throw new Error('refused');
  };
  await scene.start();
  // Longer than a retry with its jitter.
  await scene.advance(8000);
  scene.stop.abort();
  await scene.advance(1);
  assert.deepEqual(log.lines.slice(0, 1), [`warn leader election of ${scene.lock.describe()}: refused`]);
  assert.deepEqual(log.lines.slice(1).toSorted(), [
    'info became leader',
    'info stopped leading',
    'info there is a new leader',
  ]);
  const { lease, identity } = log.fields[log.lines.indexOf('info became leader')] ?? {};
  assert.deepEqual([lease, identity], [scene.lock.describe(), 'me']);
  assert.equal(scene.errors.length, 1);
  assert.equal(warned.mock.callCount(), 0);
});
