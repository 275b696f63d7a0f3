/** The published schema of results: it has every member of a result, and other files are refused. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseResult, readResult } from '../../../../../src/tools/loadtest/report/read-result.ts';
import { BOUNDS_MS } from '../../../../../src/tools/loadtest/histogram.ts';
import type { LoadTestResult } from '../../../../../src/tools/loadtest/result.ts';
import { readWorkload } from '../../../../../src/tools/loadtest/workload/read-workload.ts';
import { exampleResult } from '../example-result.ts';

interface Schema {
  readonly [name: string]: unknown;
}

/** Returns the schema with every object closed, so that a member that the schema lacks is an error. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(
    Object.entries(schema as Schema).map(([name, value]) => [name, closed(value)]),
  );
  return 'properties' in members && members['type'] === 'object'
    ? { ...members, additionalProperties: false }
    : members;
}

const path = createRequire(import.meta.url).resolve('kubeloom/loadtest-result.schema.json');
const schema = JSON.parse(readFileSync(path, 'utf8')) as Schema;

/** Every kind of phase, watcher and threshold that the example does not have. */
const STRANGE = `objects:
  - { kind: Lease, count: 1, size: 1B }
  - { kind: Pod, count: 1, size: { distribution: uniform, min: 1B, max: 2B } }
watchers:
  - { name: x, client: raw, list: pages, perNamespace: true, slow: { handler: 5ms }, reconnect: { every: 1s } }
phases:
  - create: { rate: 10 }
  - sync: {}
  - slow-consumer: { for: 1s, rate: { from: 1, to: 2 }, slow: { socket: 1KiB }, mix: { create: 1 }, kinds: [Lease] }
  - server-restart: { for: 1s, rate: 1, command: ['true'] }
  - pause: { for: 1s }
thresholds: [x_total == 0]
`;

/** A run that measured nothing: null wherever it may be. */
function emptyResult(): LoadTestResult {
  const result = exampleResult();
  return {
    ...result,
    run: { ...result.run, workload: readWorkload(STRANGE, 'strange.yaml', {}, 1).workload },
    phases: [],
    latencies: [
      {
        step: 'dueToSent',
        phase: 'a',
        kind: 'Lease',
        change: 'status',
        group: null,
        histogram: { count: 0, sumMs: 0, minMs: null, maxMs: null, buckets: [] },
      },
    ],
    watchers: result.watchers.map((watcher) => ({
      ...watcher,
      client: 'raw',
      syncs: [{ mode: null, cause: 'server', startMs: 0, durationMs: null, items: null, bytes: null }],
      receivedBytes: null,
      cacheEqualsList: null,
    })),
    marks: [{ atMs: 1, type: 'fault', watcher: null, text: 'restart' }],
    serverMetrics: [],
    serverStages: { stages: [], absent: [], unread: 'forbidden' },
    thresholds: result.thresholds.map((each) => ({ ...each, figure: null, isMet: false })),
    conclusion: { kind: 'INTERRUPTED', reasons: ['stopped'] },
    leftovers: [],
  };
}

describe('the schema of results', () => {
  for (const [name, result] of Object.entries({ example: exampleResult(), empty: emptyResult() })) {
    it(`has every member of the ${name} result and no other`, () => {
      const check = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(closed(schema) as object);
      assert.ok(check(JSON.parse(JSON.stringify(result))), JSON.stringify(check.errors?.slice(0, 3)));
      assert.deepEqual(parseResult(JSON.stringify(result), 'a.json').boundsMs, BOUNDS_MS);
    });
  }
});

describe('a file that is not a result', () => {
  const refused: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['JSON that ends early', '{', /a\.json is not a result of a load test: it is not JSON/],
    ['other JSON', '[]', /it has no format, and this version reads format 1/],
    [
      'a later format',
      JSON.stringify({ ...exampleResult(), format: 2 }),
      /it has the format 2, and this version reads/,
    ],
    [
      'a result without watchers',
      JSON.stringify({ ...exampleResult(), watchers: undefined }),
      /must have required property 'watchers'/,
    ],
  ];
  for (const [what, text, message] of refused) {
    it(`is refused: ${what}`, () => {
      assert.throws(() => parseResult(text, 'a.json'), { code: 'ERR_KUBELOOM_USAGE', message });
    });
  }

  it('is refused: a file that does not exist', () => {
    const message = /nowhere\.json is not a result of a load test: it cannot be read: ENOENT/;
    assert.throws(() => readResult('/nowhere.json'), { code: 'ERR_KUBELOOM_USAGE', message });
  });
});
