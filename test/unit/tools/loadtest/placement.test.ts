/** The watchers of each index of a Job. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WHOLE, placeWatchers } from '../../../../src/tools/loadtest/watch/placement.ts';
import { readWorkload } from '../../../../src/tools/loadtest/workload/read-workload.ts';

const FILE = `objects: [{ kind: ConfigMap, count: 5, namespaces: 3 }]
watchers:
  - { name: many, count: 7, processes: 3, perNamespace: true }
  - { name: few, count: 2, processes: 2 }
phases: [create: {}, sync: {}]
`;
const { workload } = readWorkload(FILE, 'w.yaml', {}, 1);
const PLACE = { run: '0123abcd', namespaces: ['a', 'b', 'c'], nodes: [] };

describe('the watchers of an index', () => {
  it('are all of them for a run of one process, in the processes that the workload names', () => {
    const all = placeWatchers(workload, PLACE, WHOLE);
    assert.equal(
      all.map(({ task, process }) => `${task.name}: ${process}`).join(', '),
      'many 1: 1, many 2: 2, many 3: 3, many 4: 1, many 5: 2, many 6: 3, many 7: 1, few 1: 4, few 2: 5',
    );
  });

  it('are on one index each, whatever the number of indexes is', () => {
    const whole = placeWatchers(workload, PLACE, WHOLE).map(({ task }) => task);
    for (const indexes of [2, 3, 4, 9]) {
      const shares = Array.from({ length: indexes }, (_, index) =>
        placeWatchers(workload, PLACE, { index, indexes }),
      );
      const names = shares.flat().map(({ task }) => task.name);
      assert.deepEqual(names.toSorted(), whole.map(({ name }) => name).toSorted());
      // The selection is that of the whole run: a watcher of one namespace keeps it.
      for (const { task } of shares.flat()) {
        const same = whole.find(({ name }) => name === task.name);
        assert.deepEqual(task, same);
      }
      const numbers = shares.flatMap((share) => [...new Set(share.map(({ process }) => process))]);
      const ascending = numbers.map((_, n) => n + 1);
      assert.deepEqual(numbers, ascending);
    }
  });

  it('include the first watcher of every group on index 0, which measures latencies', () => {
    const first = placeWatchers(workload, PLACE, { index: 0, indexes: 4 });
    const names = first.map(({ task }) => task.name);
    assert.deepEqual(names, ['many 1', 'many 5', 'few 1']);
  });
});
