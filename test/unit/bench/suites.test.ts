/** The tables of cases: names that distinguish rows, and what each level runs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRunOptions } from '../../../bench/arguments.ts';
import { belongsTo, distinct, roundsOf, sized } from '../../../bench/case.ts';
import { durationText, estimateSeconds } from '../../../bench/estimate.ts';
import { SUITES } from '../../../bench/names.ts';
import { ChunkedLines } from '../../../bench/peers/chunked-lines.ts';
import { SUITE_CASES } from '../../../bench/suites.ts';

const ALL = SUITES.flatMap((suite) => SUITE_CASES[suite]);

describe('the suites', () => {
  it('have cases whose names, sizes, handlers and shards distinguish their rows', () => {
    const names = ALL.map(({ suite, name, source, task }) =>
      [suite, name, source.objectBytes, task.handler, task.shards].join('/'),
    );
    assert.deepEqual([...new Set(names)], names);
  });

  it('have default rows in every suite, kubeloom in every case but those of peers alone', () => {
    for (const suite of SUITES)
      assert.ok(
        SUITE_CASES[suite].some(({ tier }) => tier === 'default'),
        suite,
      );
    const without = ALL.filter(({ clients }) => clients.kubeloom === undefined);
    assert.deepEqual(
      without.map(({ name }) => name),
      ['1,000,000 small pods, peers'],
    );
  });

  it('run exactly the default rows when quick, and the grid only with all', () => {
    for (const benchCase of ALL) {
      assert.equal(belongsTo(benchCase, 'quick'), benchCase.tier === 'default');
      assert.equal(belongsTo(benchCase, 'standard'), benchCase.tier !== 'all');
      assert.equal(belongsTo(benchCase, 'all'), true);
    }
  });

  it('cover sizes, handlers, shards, codecs, managedFields and TLS in every combination', () => {
    const grid = ALL.filter(({ name }) => name.startsWith('grid: '));
    assert.equal(grid.length, 4 * 3 * 4 * 2 * 2 * 2);
  });

  it('are tiny in a smoke, whatever their size is otherwise', () => {
    for (const benchCase of ALL) {
      const tiny = sized(benchCase, 'smoke');
      assert.ok(tiny.source.pods <= 200, tiny.name);
      for (const events of Object.values(tiny.clients)) assert.ok(events <= 300, tiny.name);
      assert.ok(Object.keys(tiny.clients).every((name) => name in benchCase.clients));
    }
  });

  it('run the default rows three times and others once, but for --all', () => {
    for (const benchCase of ALL) {
      assert.equal(roundsOf(benchCase, 'standard'), benchCase.tier === 'default' ? 3 : 1);
      assert.equal(roundsOf(benchCase, 'quick'), 1);
      assert.equal(roundsOf(benchCase, 'all'), 3);
    }
  });

  it('run in a smoke once of each kind: sizes and rates make no difference when they are tiny', () => {
    const tiny = ALL.filter(({ tier }) => tier !== 'all').map((benchCase) => sized(benchCase, 'smoke'));
    const kinds = distinct(tiny);
    const named = (text: string): string[] =>
      kinds.flatMap(({ suite, name }) => (name.includes(text) ? [`${suite}: ${name}`] : []));
    const paced = [
      'latency: 10,000 events/s',
      'rest: 10 events/s',
      'rest: 20 informers, 50 events/s each',
      'small: rest, 10 events/s',
    ];
    assert.deepEqual(named('events/s'), paced);
    assert.deepEqual(named('late handler'), ['sync: late handler, 110,000 pods']);
    assert.deepEqual(named('grid'), ['readers: grid']);
    for (const text of [
      'TLS',
      'msgpack',
      '2 shards',
      'pages',
      'churn',
      'relist',
      '200 informers',
      'widgets',
      'kubeconfig',
      'connection',
      'no events',
    ])
      assert.ok(named(text).length > 0, text);
  });

  it('estimate their duration', () => {
    const quick = SUITE_CASES.watch.filter((benchCase) => belongsTo(benchCase, 'quick'));
    const runOptions = (rounds: number) => ({
      ...parseRunOptions(['watch'], { client: ['kubeloom'] }),
      rounds,
    });
    const one = estimateSeconds(quick, runOptions(1));
    assert.ok(one > 4 && estimateSeconds(quick, runOptions(3)) > one);
    assert.equal(durationText(12.3), '13 s');
    assert.equal(durationText(150), '3 min');
  });
});

describe('the limit', () => {
  const response =
    'HTTP/1.1 200 OK\r\nA: b\r\n\r\n4\r\na\nb\n\r\n1A\r\nabcdefghijklmnopqrstuvwxy\n\r\n0\r\n\r\n';

  it('counts the lines of a chunked body, however it is cut into reads', () => {
    for (let size = 1; size <= response.length; size++) {
      const lines = new ChunkedLines();
      for (let at = 0; at < response.length; at += size) {
        lines.push(Buffer.from(response.slice(at, at + size)));
      }
      assert.deepEqual([lines.count, lines.bytes, lines.isComplete], [3, 30, true], `reads of ${size}`);
    }
  });
});
