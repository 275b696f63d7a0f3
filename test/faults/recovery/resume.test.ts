/** Position at which a reflector's successor begins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { initialState } from '../../../src/reflector/rules/state.ts';
import type { Effect } from '../../../src/reflector/rules/state.ts';
import { step } from '../../../src/reflector/rules/step.ts';
import type { ResumePosition } from '../../../src/shared/protocol.ts';
import { SPEC } from '../../unit/reflector/scripts.ts';

function begun(resume: Partial<ResumePosition>): readonly Effect[] {
  const position = { resourceVersion: '', epoch: 0, isReplacing: false, isStopping: false, ...resume };
  return step(initialState(SPEC, position), { type: 'start' }, 0).effects.filter(
    ({ type }) => type !== 'phase',
  );
}

test('C174 a successor watches from the last merged version', () => {
  const [request, ...rest] = begun({ resourceVersion: '17', epoch: 3 });
  assert.ok(request?.type === 'watch');
  assert.equal(request.query['resourceVersion'], '17');
  assert.deepEqual(rest, []);
});

test('C174 a successor lists if nothing was listed', () => {
  const [request, ...rest] = begun({});
  assert.ok(request?.type === 'list');
  assert.equal(request.query['resourceVersion'], '0');
  assert.deepEqual(rest, []);
});

test('C174 an unfinished relist is aborted by its epoch, and the list begins again', () => {
  const [abort, request, ...rest] = begun({ resourceVersion: '17', epoch: 3, isReplacing: true });
  assert.deepEqual(abort, { type: 'control', kind: DeltaKind.ReplaceAbort, epoch: 3, resourceVersion: '' });
  assert.ok(request?.type === 'list');
  assert.equal(request.query['resourceVersion'], '17');
  assert.deepEqual(rest, []);
});
