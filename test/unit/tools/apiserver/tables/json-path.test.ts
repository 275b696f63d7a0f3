/** Paths of printer columns, which need not lead to a value. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstAt } from '../../../../../src/tools/apiserver/tables/json-path.ts';

const OBJECT = {
  spec: { size: 2, list: ['a', 'b', 'c'], map: { x: 1, y: 2 } },
  metadata: { annotations: { 'a.b/c': 'dotted' } },
  status: { conditions: [{ type: 'Old' }, { type: 'Ready', status: 'True' }] },
};

describe('the path of a printer column', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['.spec.size', 2],
    ['.spec.absent', undefined],
    ['.spec.size.deeper', undefined],
    ['.spec.list[0]', 'a'],
    ['.spec.list[-1]', 'c'],
    ['.spec.list[1:]', 'b'],
    ['.spec.list[9]', undefined],
    ['.spec.list[*]', 'a'],
    ['.spec.map.*', 1],
    [".spec['size']", 2],
    ['.metadata.annotations.a\\.b/c', 'dotted'],
    ['.status.conditions[?(@.type=="Ready")].status', 'True'],
    [".status.conditions[?(@.type!='Ready')].type", 'Old'],
    ['.status.conditions[?(@.status)].type', 'Ready'],
    ['.spec.list[', undefined],
    ['.constructor', undefined],
  ];
  for (const [path, value] of cases)
    it(`${path} finds ${JSON.stringify(value)}`, () => assert.deepEqual(firstAt(path, OBJECT), value));
});
