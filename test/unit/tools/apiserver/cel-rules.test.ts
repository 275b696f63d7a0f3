/** Rules of a schema at their edges: hostile names, nodes without rules, and values that an update leaves as they were. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RuleNode, escapedName, ruleErrors } from '../../../../src/tools/apiserver/crd/cel-rules.ts';
import type { JsonObject } from '../../../../src/tools/apiserver/store/json.ts';

function node(properties: JsonObject, rule: string, more: JsonObject = {}): RuleNode {
  return new RuleNode({ type: 'object', properties, 'x-kubernetes-validations': [{ rule, ...more }] });
}

const TEXT = { type: 'string' };

/** Rules with functions and macros of Kubernetes' libraries, and whether an object keeps them. */
const RULES: readonly (readonly [rule: string, isKept: boolean])[] = [
  ['has(self.l[0].n) && !has(self.l[1].n)', true],
  ["quantity('1.5Gi').add(quantity('512Mi')).compareTo(quantity('2Gi')) == 0", true],
  ["quantity('1k').sub(1).asInteger() == 999 && quantity('100m').asApproximateFloat() == 0.1", true],
  [
    "sign(quantity('5')) == 1 && !quantity('0.5').isInteger() && isQuantity('1e3') && !isQuantity('1Kii')",
    true,
  ],
  [
    "sets.contains(['a', 'b'], ['b']) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
    true,
  ],
  ["'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1b22'.findAll('[0-9]+', 1) == ['1']", true],
  ["self.t.matches('^[a-z]+$') && 'abc'.find('(?i)B') == 'b'", true],
  ["ip('::ffff').family() == 6 && ip('127.0.0.1').isLoopback() && !ip.isCanonical('0::1')", true],
  [
    "cidr('10.1.2.3/8').masked().ip() == ip('10.0.0.0') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    true,
  ],
  ["cidr('::1/24').containsIP(ip('::2')) && string(ip('2001:0db8::0001')) == '2001:db8::1'", true],
  ["isURL('https://a.b:80/c?d=e') && url('https://a.b:80/c?d=e').getQuery()['d'] == ['e']", true],
  ["url('https://[::1]:80/c').getHostname() == '::1' && url('https://a.b:80').getPort() == '80'", true],
  [
    "!format.dns1123Label().validate('a-b').hasValue() && format.dns1123Label().validate('A').hasValue()",
    true,
  ],
  ["format.named('uuid').value().validate('x').value()[0] == 'does not match the UUID format'", true],
  ["[1, 2].all(i, v, v == i + 1) && {'a': 1}.exists(k, v, k == 'a' && v == 1)", true],
  [
    "{'a': 1, 'b': 2}.transformList(k, v, v > 1, k) == ['b'] && [3].transformMap(i, v, v * 2) == {0: 6}",
    true,
  ],
  [
    "self.?x.orValue('d') == 'd' && self.l[?5].hasValue() == false && self.?t.optMap(v, v + 'c').value() == 'abc'",
    true,
  ],
  [
    "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('v1.0', true) && semver('1.0.0-a').major() == 1",
    true,
  ],
  [
    "type(self.t) == string && type(1) == int && type(self) == map && type(duration('1s')) == google.protobuf.Duration",
    true,
  ],
  ["duration('90m').getHours() == 1 && timestamp('2024-02-29T12:00:00Z').getDayOfYear('+13:00') == 60", true],
  [
    "[3, 1, 2].sort() == [1, 2, 3] && [[1], [2]].flatten() == [1, 2] && ['b', 'a'].sortBy(x, x) == ['a', 'b']",
    true,
  ],
  ["'a,b'.split(',').join('-') == 'a-b' && 'é😀'.charAt(1) == '😀'", true],
  ['[1, 2].exists(x, 1 / (x - 1) == 1) && (true || 1 / 0 == 1) && !(1 / 0 == 1 && false)', true],
  ['1 / 0 == 1', false],
  ['self.t > 1', false],
  ['9223372036854775807 + 1 > 0', false],
];

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

  for (const [rule, isKept] of RULES) {
    it(`evaluate ${rule.slice(0, 80)}`, () => {
      const rules = node(
        { l: { type: 'array', items: { type: 'object', properties: { n: TEXT } } }, t: TEXT },
        rule,
      );
      const errors = rules.errors({ l: [{ n: 'a' }, {}], t: 'ab' }, undefined, 'spec');
      assert.deepEqual([rule, errors.length], [rule, isKept ? 0 : 1]);
      assert.deepEqual(ruleErrors({ 'x-kubernetes-validations': [{ rule }] }, ''), []);
    });
  }

  it('end with an error when nested loops cost too much, and no further rule runs', () => {
    const rules = new RuleNode({
      type: 'object',
      properties: { l: { type: 'array', items: { type: 'integer' } } },
      'x-kubernetes-validations': [
        { rule: 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))' },
        { rule: 'false' },
      ],
    });
    const errors = rules.errors({ l: Array.from({ length: 1000 }, (_, index) => index) }, undefined, 'spec');
    assert.equal(errors.length, 1);
    assert.match(
      errors[0]?.body ?? '',
      /^Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no /,
    );
  });

  it('read a quantity of many digits in linear time', () => {
    const digits = '0'.repeat(300_000);
    const rules = node({ q: TEXT }, 'isQuantity(self.q)');
    assert.equal(rules.errors({ q: `${digits}x` }, undefined, '').length, 1);
    assert.equal(rules.errors({ q: `${digits}1Ki` }, undefined, '').length, 0);
  });
});
