/** The JUnit file of a load test: its cases, and that it is red exactly when the run is no PASS. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { junitText } from '../../../../../src/tools/loadtest/report/junit.ts';
import type { LoadTestResult } from '../../../../../src/tools/loadtest/result.ts';
import { exampleResult } from '../example-result.ts';

function passed(): LoadTestResult {
  const result = exampleResult();
  const thresholds = result.thresholds.map((each) => ({ ...each, isMet: true }));
  return { ...result, thresholds, conclusion: { kind: 'PASS', reasons: [] } };
}

const countsOf = (xml: string): string =>
  /<testsuite [^>]*?(tests="\d+" failures="\d+" errors="\d+")/.exec(xml)?.[1] ?? xml;

describe('the JUnit file of a load test', () => {
  it('has a case for the load, one for each group of watchers, and one for each threshold', () => {
    const xml = junitText(passed());
    const names = Array.from(
      xml.matchAll(/<testcase classname="(\w+)" name="([^"]+)"/g),
      ([, type, name]) => `${type}: ${name}`,
    );
    assert.deepEqual(names, [
      'load: no part was saturated, and every write was answered',
      'delivery: informers: every change once and in order, caches equal a LIST',
      'delivery: peers: every change once and in order, caches equal a LIST',
      'threshold: answered→handler p99 &lt; 500ms in steady',
      'threshold: lost == 0',
      'threshold: sync p99 &lt; 1s',
    ]);
    assert.equal(countsOf(xml), 'tests="6" failures="0" errors="0"');
  });

  it('fails the threshold that was missed, with what was measured', () => {
    const xml = junitText(exampleResult());
    assert.equal(countsOf(xml), 'tests="6" failures="1" errors="0"');
    assert.match(
      xml,
      /name="sync p99 &lt; 1s">\n +<failure message="it was 3.06 s">it was 3.06 s<\/failure>/,
    );
  });

  it('fails the delivery of the group that lost a change, and names the watcher', () => {
    const result = passed();
    const [first] = result.watchers;
    assert.ok(first);
    const verdict = { ...first.verdict, lost: 1, findings: ['lost <a>\u0007 & "b"'] };
    const watchers = [{ ...first, verdict }, ...result.watchers.slice(1)];
    const xml = junitText({ ...result, watchers, conclusion: { kind: 'FAIL', reasons: ['…'] } });
    assert.equal(countsOf(xml), 'tests="6" failures="1" errors="0"');
    assert.ok(xml.includes('informers 1: lost &lt;a&gt;\\x07 &amp; &quot;b&quot;</failure>'), xml);
  });

  it('fails the delivery of the group whose cache is not the state of the server', () => {
    const result = passed();
    const watchers = result.watchers.map((watcher) => ({
      ...watcher,
      cacheEqualsList: watcher.group !== 'peers',
    }));
    const xml = junitText({ ...result, watchers, conclusion: { kind: 'FAIL', reasons: ['…'] } });
    assert.match(
      xml,
      /name="peers: [^>]*>\n +<failure message="0 lost, 0 duplicated, 0 reordered, 1 caches unlike the server"/,
    );
  });

  for (const kind of ['INVALID', 'INTERRUPTED'] as const) {
    it(`has an error in the case of the load when the run is ${kind}`, () => {
      const xml = junitText({ ...passed(), conclusion: { kind, reasons: ['3 writes were refused'] } });
      assert.equal(countsOf(xml), 'tests="6" failures="0" errors="1"');
      assert.ok(xml.includes(`<error message="${kind}:">${kind}:\n3 writes were refused</error>`), xml);
    });
  }
});
