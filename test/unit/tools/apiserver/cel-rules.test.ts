/** Rules of a schema at their edges: hostile names, nodes without rules, and values that an update leaves as they were. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RuleNode, escapedName, ruleErrors } from '../../../../src/tools/apiserver/crd/cel-rules.ts';
import type { JsonObject } from '../../../../src/tools/apiserver/store/json.ts';

function node(properties: JsonObject, rule: string, more: JsonObject = {}): RuleNode {
  return new RuleNode({ type: 'object', properties, 'x-kubernetes-validations': [{ rule, ...more }] });
}

const TEXT = { type: 'string' };

describe('the rules of a schema', () => {
  it('see own fields only: no rule reaches Object.prototype', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const rules = node({}, `has(self.${name})`);
      assert.equal(rules.errors({}, undefined, 'spec').length, 1, name);
    }
    const named = node({ constructor: TEXT }, "self.constructor == 'x'");
    assert.deepEqual(named.errors({ constructor: 'x' }, undefined, 'spec'), []);
  });

  it('ignore a value that an update leaves unchanged, unless they compare it with the value before', () => {
    const rules = node({ a: TEXT }, "self.a == 'new'");
    assert.equal(rules.errors({ a: 'old' }, undefined, '').length, 1);
    assert.deepEqual(rules.errors({ a: 'old' }, { a: 'old' }, ''), []);
    assert.equal(rules.errors({ a: 'other' }, { a: 'old' }, '').length, 1);
    const transition = node({ a: TEXT }, 'self.a != oldSelf.a');
    assert.equal(transition.errors({ a: 'old' }, { a: 'old' }, '').length, 1);
  });

  it('take the word oldSelf in a text for text', () => {
    assert.equal(node({ a: TEXT }, "self.a == 'oldSelf'").errors({ a: 'x' }, undefined, '').length, 1);
  });

  it('are not looked for where a schema has none', () => {
    assert.equal(new RuleNode({ type: 'object', properties: { a: TEXT } }).isNeeded, false);
    assert.equal(node({}, 'true').isNeeded, true);
  });

  it('report an expression that no program can be made of, with its place', () => {
    const [error] = ruleErrors({ 'x-kubernetes-validations': [{ rule: 'true' }, { rule: '(' }] }, 'schema');
    assert.equal(error?.field, 'schema.x-kubernetes-validations[1].rule');
  });

  it('name fields with the escapes of Kubernetes', () => {
    assert.equal(escapedName('a-b.c/d__e'), 'a__dash__b__dot__c__slash__d__underscores__e');
    assert.equal(escapedName('namespace'), '__namespace__');
  });
});
