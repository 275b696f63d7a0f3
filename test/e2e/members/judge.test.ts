/** The judge finds nothing wrong with a good history, and each rule sees the history that breaks it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Line } from './history.ts';
import { judge } from './judge.ts';

const KEY = 'default/one';
const A = { member: 'a', partition: 3, epoch: 1 } as const;
const B = { member: 'b', partition: 3, epoch: 2 } as const;

type Place = typeof A | typeof B;

/** A work that is not killed. */
function work(place: Place, atMs: number, version: number, key: string = KEY): Line[] {
  return [
    { kind: 'begins', atMs, ...place, key, version },
    { kind: 'ends', atMs: atMs + 5, ...place, key },
  ];
}

const owns = (place: Place, atMs: number): Line => ({ kind: 'owns', atMs, ...place });
const wrote = (atMs: number, version: number, key: string = KEY): Line => ({
  kind: 'wrote',
  atMs,
  key,
  version,
});
/** `a` has the partition until it is killed, then `b` has it. */
const GOOD: readonly Line[] = [
  owns(A, 0),
  wrote(10, 7),
  ...work(A, 20, 7),
  wrote(110, 8),
  owns(B, 900),
  ...work(B, 1000, 8),
];

const BAD: readonly (readonly [title: string, lines: readonly Line[], violation: RegExp])[] = [
  [
    'an owner that acts after the next one',
    [...GOOD, ...work(A, 1001, 8)],
    /b .* acts before the last act of a/,
  ],
  [
    'an owner whose work ends after the next one has begun',
    [
      ...GOOD,
      { kind: 'begins', atMs: 990, ...A, key: 'k', version: 8 },
      { kind: 'ends', atMs: 1002, ...A, key: 'k' },
    ],
    /before the last act of a/,
  ],
  [
    'an epoch that is not greater than the one before',
    [...GOOD, ...work({ ...A, member: 'b' } as never, 1100, 8)],
    /epoch 1\) follows b/,
  ],
  [
    'a key in two partitions',
    [...GOOD, ...work({ ...B, partition: 4 } as never, 1100, 8)],
    /belonged to partition 3/,
  ],
  [
    'two works on a key at a time',
    [...GOOD, { kind: 'begins', atMs: 1001, ...B, key: KEY, version: 8 }],
    /two works at one time/,
  ],
  [
    'a state that is older than the hand-over',
    [...GOOD.slice(0, -2), ...work(B, 1000, 7), ...work(B, 1010, 8)],
    /8 was written before its owner had the partition/,
  ],
  ['a state that goes back', [...GOOD, ...work(B, 1100, 9), ...work(B, 1200, 8)], /after a work at 9/],
  ['an object that is missing, but was never deleted', [...GOOD, ...work(B, 1100, 0)], /never deleted/],
  [
    'an object that is back after its deletion',
    [...GOOD, { kind: 'deleted', atMs: 1050, key: KEY }, ...work(B, 1100, 0), ...work(B, 1200, 8)],
    /after a work at Infinity/,
  ],
  [
    'a deletion that reaches an owner of later',
    [...GOOD, { kind: 'deleted', atMs: 800, key: KEY }],
    /gone before/,
  ],
  ['a change that no work has', [...GOOD, wrote(1100, 9)], /never worked to the end/],
  [
    'a change whose work is not ended',
    [...GOOD, wrote(1100, 9), { kind: 'begins', atMs: 1110, ...B, key: KEY, version: 9 }],
    /never worked to the end/,
  ],
  [
    'a change whose work was aborted',
    [
      ...GOOD,
      wrote(1100, 9),
      { kind: 'begins', atMs: 1110, ...B, key: KEY, version: 9 },
      { kind: 'stops', atMs: 1120, ...B, key: KEY },
    ],
    /never worked to the end/,
  ],
];

describe('the judge of members', () => {
  test('finds nothing in a hand-over after a kill', () => {
    assert.deepEqual(judge(GOOD), []);
  });

  test('takes the deletion of an owned object for no fault, and needs no work on it', () => {
    const lines: Line[] = [
      wrote(1100, 9, 'k'),
      { kind: 'deleted', atMs: 1110, key: 'k' },
      ...work(B, 1120, 0, 'k'),
    ];
    assert.deepEqual(judge([...GOOD, ...lines]), []);
  });

  for (const [title, lines, violation] of BAD)
    test(`finds ${title}`, () => {
      assert.match(judge(lines).join('\n'), violation);
    });
});
