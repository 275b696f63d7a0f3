/** The limits of a JSON patch. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StatusError } from '../../../../src/tools/apiserver/store/status.ts';
import { jsonPatch } from '../../../../src/tools/apiserver/write/json-patch.ts';
import type { Json } from '../../../../src/tools/apiserver/store/json.ts';

function refusal(patch: Json): number | undefined {
  try {
    jsonPatch({ a: { b: 'x' } }, patch);
    return undefined;
  } catch (error) {
    return error instanceof StatusError ? error.status.code : undefined;
  }
}

it('a JSON patch whose copies double a value ends with 422 before the value fills the memory', () => {
  const copies = Array.from({ length: 30 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/${index}` }));
  assert.equal(refusal(copies.slice(0, 10)), undefined);
  assert.equal(refusal(copies), 422);
});

it('a JSON patch has at most 10,000 operations', () => {
  const operations = (length: number): Json =>
    Array.from({ length }, () => ({ op: 'test', path: '/a/b', value: 'x' }));
  assert.equal(refusal(operations(10_000)), undefined);
  assert.equal(refusal(operations(10_001)), 413);
});
