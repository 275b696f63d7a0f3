/** Workload files: what they mean, and what their errors say. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeloomError } from '../../../../src/base/errors.ts';
import { PRESETS, presetText } from '../../../../src/tools/loadtest/workload/presets.ts';
import { readWorkload } from '../../../../src/tools/loadtest/workload/read-workload.ts';
import type { Workload } from '../../../../src/tools/loadtest/workload/workload.ts';

const SMALL = `# small
objects:
  - { kind: ConfigMap, count: 10 }
watchers:
  - name: informers
phases:
  - create: {}
  - sync: {}
  - steady: { for: 1.5s, rate: 20 }
`;

function read(text: string): Workload {
  return readWorkload(text, 'w.yaml', {}, 7).workload;
}

function errorOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_WORKLOAD', String(error));
    return error.message;
  }
  return assert.fail('the workload was read');
}

describe('a workload file', () => {
  it('gets its defaults from the schema', () => {
    const { name, seed, objects, watchers, phases, limits } = read(SMALL);
    assert.deepEqual({ name, seed }, { name: 'w.yaml', seed: 7 });
    assert.deepEqual(limits, { objectsMax: 100_000, ratePerSecondMax: 2000 });
    assert.deepEqual(objects, [
      {
        kind: 'ConfigMap',
        count: 10,
        namespaces: 1,
        size: { distribution: 'constant', bytes: 1024 },
        labels: {},
      },
    ]);
    const alone = { client: 'informer', of: 'ConfigMap', count: 1, processes: 1, threads: 1 } as const;
    const how = { list: 'watchlist', selector: '', perNamespace: false } as const;
    assert.deepEqual(watchers, [{ name: 'informers', ...alone, ...how }]);
    assert.deepEqual(phases, [
      { type: 'create', name: 'create', kinds: ['ConfigMap'] },
      { type: 'sync', name: 'sync', watchers: ['informers'], timeoutMs: 300_000 },
      {
        type: 'steady',
        name: 'steady',
        durationMs: 1500,
        load: {
          rate: { fromPerSecond: 20, toPerSecond: 20 },
          arrival: 'constant',
          mix: { create: 5, update: 90, status: 0, delete: 5 },
          kinds: ['ConfigMap'],
        },
      },
    ]);
  });

  it('is returned with the seed that repeats the run, and with its comments', () => {
    const { yaml, workload } = readWorkload(SMALL, 'w.yaml', { seed: 42 }, 7);
    assert.equal(workload.seed, 42);
    assert.match(yaml, /^# small\n[^]*\nseed: 42\n$/);
    assert.deepEqual(readWorkload(yaml, 'w.yaml', {}, 7).workload, workload);
  });

  it('prefers a seed that is given to its own', () => {
    const withSeed = `${SMALL}seed: 5\n`;
    assert.equal(readWorkload(withSeed, 'w', {}, 7).workload.seed, 5);
    assert.equal(readWorkload(withSeed, 'w', { seed: 6 }, 7).workload.seed, 6);
  });

  it('has another client for all watchers when one is given, also in the file of the run', () => {
    const { workload, yaml } = readWorkload(SMALL, 'w', { client: 'client-node' }, 7);
    assert.equal(workload.watchers[0]?.client, 'client-node');
    assert.deepEqual(readWorkload(yaml, 'w', {}, 7).workload, workload);
  });

  for (const preset of PRESETS) {
    it(`of the preset ${preset} can be read`, () => {
      assert.equal(readWorkload(presetText(preset), preset, {}, 1).workload.name, preset);
    });
  }
});

describe('the error of a workload file', () => {
  for (const [change, error] of [
    [
      ['1.5s', '1.5 s'],
      'w.yaml:9:20 phases[2].steady.for: expected a duration such as 500ms, 30s or 5m, got "1.5 s"',
    ],
    [
      ['count: 10', 'count: 0'],
      'w.yaml:3:31 objects[0].count: expected a number of objects, 1 or more, got 0',
    ],
    [
      ['count: 10', 'cuont: 10'],
      /^w\.yaml:3:5 objects\[0\]: count is missing; .*; 3:24 objects\[0\]\.cuont: .*did you mean count\?$/,
    ],
    [['steady:', 'steadi:'], 'w.yaml:9:5 phases[2].steadi: there is no "steadi": did you mean steady?'],
    [
      ['rate: 20', 'rate: 20, burst: 3'],
      /^w\.yaml:9:36 phases\[2\]\.steady\.burst: there is no "burst": known are for, rate, name/,
    ],
    [
      ['rate: 20', 'rate: { from: 1 }'],
      /^w\.yaml:9:32 phases\[2\]\.steady\.rate: to is missing; expected a number a second/,
    ],
    [
      ['ConfigMap', 'Secret'],
      /^w\.yaml:3:13 objects\[0\]\.kind: expected ConfigMap, Lease, Pod or Widget, got "Secret"$/,
    ],
    [
      ['count: 10', 'count: 10, shape: realistic'],
      /^w\.yaml:3:\d+ objects\[0\]\.shape: only Pods have a shape, and these are ConfigMaps$/,
    ],
    [
      ['rate: 20', 'rate: 2001'],
      'w.yaml:9:32 phases[2].steady.rate: 2001 a second is more than limits.rate, which is 2000',
    ],
    [['count: 10', 'count: 100001'], /^w\.yaml:3:3 objects: 100001 objects are more than limits\.objects/],
    [['  - sync: {}\n', ''], 'w.yaml:5:5 watchers[0]: informers are never started: add a phase sync: {}'],
    [
      ['sync: {}', 'sync: { watchers: [x] }'],
      /^w\.yaml:5:5 .*; 8:23 phases\[1\]\.sync\.watchers: x is none of the watchers: informers$/,
    ],
    [
      ['  - sync', '  - relist-storm: { for: 1s, every: 1s, watchers: [informers] }\n  - sync'],
      /informers are not started yet$/,
    ],
    [['name: informers', 'name: informers\n    selector: "!("'], /^w\.yaml:6:15 watchers\[0\]\.selector: /],
    [
      ['phases:', 'thresholds: [lost < 1s]\nphases:'],
      'w.yaml:6:14 thresholds[0]: lost is a number without a unit',
    ],
    [
      ['phases:', 'thresholds: [sent→answered p99 < 1s in x]\nphases:'],
      /thresholds\[0\]: x is none of the phases: create, sync, steady$/,
    ],
    [
      ['name: informers', 'name: informers\n    client: client-node\n    slow: { handler: 1s }'],
      /^w\.yaml:7:11 watchers\[0\]\.slow: client-node, the client of informers, waits for no handler/,
    ],
    [['phases:', 'phases: ]'], /^w\.yaml:6:9 /],
  ] as const) {
    it(`names the place of ${change[1].trim()}`, () => {
      const message = errorOf(SMALL.replace(change[0], change[1]));
      if (typeof error === 'string') assert.equal(message, error);
      else assert.match(message, error);
    });
  }

  it('says that a slow handler has no effect on client-node, also in a phase', () => {
    const phase = 'slow-consumer: { for: 1s, slow: { handler: 1s } }';
    const text = SMALL.replace('informers', 'node\n    client: client-node').replace(/steady: .*/, phase);
    assert.match(
      errorOf(text),
      /phases\[2\]\.slow-consumer\.slow: client-node, the client of node, waits for no/,
    );
  });

  it('says that an empty file is not a workload', () => {
    assert.match(errorOf(''), /^w\.yaml:1:1 expected a workload, got null$/);
  });
});

const BOMB = [
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...['b', 'c', 'd', 'e', 'f'].map((name, at) => {
    const before = '*abcdef'.charAt(0) + 'abcdef'.charAt(at);
    return `${name}: &${name} [${Array.from({ length: 10 }, () => before).join(', ')}]`;
  }),
].join('\n');

describe('aliases and depth of a file', () => {
  for (const [what, text] of [
    ['a value inside itself', 'objects: &a [*a]\nphases: []\n'],
    ['an alias without an anchor', 'objects: *a\nphases: []\n'],
    ['aliases that multiply', `${BOMB}\n`],
    ['a depth that no parser reads', '['.repeat(50_000)],
  ] as const) {
    it(`are an error with a code and a place: ${what}`, () => {
      assert.throws(() => readWorkload(text, 'w.yaml', {}, 1), {
        code: 'ERR_KUBELOOM_WORKLOAD',
        message: /^w\.yaml:\d+:\d+ /,
      });
    });
  }

  it('allow 20,000 phases without names', () => {
    const phases = 'phases:\n' + '- pause: {for: 1s}\n'.repeat(20_000);
    const { workload } = readWorkload(`objects: [{kind: ConfigMap, count: 1}]\n${phases}`, 'w.yaml', {}, 1);
    assert.equal(workload.phases.at(-1)?.name, 'pause-20000');
  });
});
