/** Rows, slabs, moves, packing, dissolving and reader threads in random orders, compared with a model. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { StoreModel } from './store-model.ts';

const SEEDS = 24;
const STEPS = 1500;
const STEPS_PER_CHECK = 10;

describe('the store through random histories', () => {
  test('C291 every row has its bytes wherever it is read, every chunk has one row, and in the end nothing is held', () => {
    let moves = 0;
    let compactions = 0;
    let dissolved = 0;
    let packsAtOnce = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const model = new StoreModel(seed);
      try {
        for (let step = 0; step < STEPS; step++) {
          model.step();
          if (step % STEPS_PER_CHECK === 0) model.check();
        }
        model.check();
        model.end();
      } catch (cause) {
        throw new Error(`seed ${seed}`, { cause });
      }
      moves += model.moves;
      compactions += model.compactions;
      dissolved += model.dissolved;
      packsAtOnce += model.packsAtOnce;
    }
    const counts = `${moves} moves, ${compactions} compactions, ${dissolved} dissolved dictionaries`;
    assert.ok(moves > 100 * SEEDS && compactions > 3 * SEEDS && dissolved > SEEDS, counts);
    assert.ok(packsAtOnce > 5 * SEEDS, `${packsAtOnce} rows packed at once`);
  });
});
