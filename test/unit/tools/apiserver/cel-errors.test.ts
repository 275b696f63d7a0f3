/** Errors of an evaluation: an error of CEL breaks the rule, and any other error is a bug that must not hide behind a rule. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile, evaluated } from '../../../../src/tools/apiserver/crd/cel-environment.ts';
import type { CelValue } from '../../../../src/tools/apiserver/crd/cel-values.ts';

const COST_MAX = 1000;

function errorOf(expression: string): string | undefined {
  return evaluated(compile(expression), new Map(), COST_MAX).error?.message;
}

describe('the error of an evaluation', () => {
  it('is an error of CEL for values that a function cannot take', () => {
    assert.match(errorOf("'a'.matches('(')") ?? '', /missing closing \)/);
    assert.equal(errorOf("quantity('1').add(null)"), 'no such overload');
    assert.equal(errorOf("quantity('1').sub(1.5)"), 'no such overload');
    assert.equal(errorOf('{1: 2}[1.5]'), 'no such key: 1.5');
    assert.equal(errorOf("optional.ofNonZeroValue(timestamp('2024-01-01T00:00:00Z')).value()"), undefined);
  });

  it('is thrown if it is any other error, also if the other side of the rule decides', () => {
    const self = new Map<CelValue, CelValue>();
    self.get = () => {
      throw new TypeError('a bug');
    };
    for (const expression of ['self.a', 'self.a || true', '[1, 2].exists(x, self.a || x == 2)'])
      assert.throws(() => evaluated(compile(expression), new Map([['self', self]]), COST_MAX), TypeError);
  });
});
