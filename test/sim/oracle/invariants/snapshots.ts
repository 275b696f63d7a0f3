/**
 * The cache at one moment. I9: no key twice, and the indexes have exactly the cached objects. I9b: it is the
 * server's state at its version, always, over all shards. I1: at the end that is the server's last state.
 */
import type { SnapshotRecord } from '../histories.ts';
import type { InformerView } from '../run-view.ts';
import type { State } from '../truth.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkSnapshots({ name, truth, snapshots }: InformerView): Violation[] {
  const found = snapshots.flatMap((snapshot) => [
    ...checkKeys(name, snapshot),
    ...checkIndices(name, snapshot),
    ...compare(truth.state(truth.position(snapshot.revision)), snapshot).map((difference) =>
      violation('I9b', `the cache of ${name} at ${snapshot.revision} ${difference}`, snapshot.at),
    ),
  ]);
  const last = snapshots.at(-1);
  if (last?.isFinal !== true) return found;
  const differences = compare(truth.last, last);
  const ends = differences.map((difference) => `at the end the cache of ${name} ${difference}`);
  return [...found, ...ends.map((message) => violation('I1', message, last.at))];
}

function checkKeys(name: string, { objects, at }: SnapshotRecord): Violation[] {
  const keys = new Set<string>();
  return objects.flatMap(({ key }) => {
    const isTwice = keys.has(key);
    keys.add(key);
    return isTwice ? [violation('I9', `${name} lists ${key} twice`, at)] : [];
  });
}

function checkIndices(name: string, { indices = {}, objects, at }: SnapshotRecord): Violation[] {
  return Object.entries(indices).flatMap(([index, values]) => {
    const actual = Object.entries(values).flatMap(([value, keys]) => keys.map((key) => `${value} → ${key}`));
    const expected = objects.flatMap(({ key, values: own = {} }) =>
      (own[index] ?? []).map((value) => `${value} → ${key}`),
    );
    return differences(new Set(expected), new Set(actual)).map((difference) =>
      violation('I9', `the index ${index} of ${name} ${difference}`, at),
    );
  });
}

function compare(state: State, { objects }: SnapshotRecord): string[] {
  const expected = Array.from(state.values(), ({ key, revision }) => `${key}@${revision}`);
  const actual = objects.map(({ key, revision }) => `${key}@${revision}`);
  return differences(new Set(expected), new Set(actual));
}

const DIFFERENCES_MAX = 3;

function differences(expected: ReadonlySet<string>, actual: ReadonlySet<string>): string[] {
  const missing = [...expected].filter((one) => !actual.has(one)).map((one) => `lacks ${one}`);
  const ghosts = [...actual].filter((one) => !expected.has(one)).map((one) => `has ${one}, which is wrong`);
  return [...missing, ...ghosts].slice(0, DIFFERENCES_MAX);
}
