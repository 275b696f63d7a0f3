/** A thread with an event loop whose bell does not wake it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { allocateWords } from '../../../../src/shared/ring/word.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { BellWatch, LOOK_PERIOD_MS } from '../../../../src/shared/ring/bell-watch.ts';

class Scene {
  readonly clock: FakeClock = new FakeClock();
  readonly bell: Bell = new Bell(new Int32Array(allocateWords(BELL_LINES)), 0);
  /** Whether a wake-up is due. */
  isOutstanding = true;
  readonly watch: BellWatch = new BellWatch(this.bell, this.clock, () => this.isOutstanding);
  hasWork = false;
  hasEnded = false;
  #waiting: Promise<void> = Promise.resolve();

  park(): void {
    this.hasEnded = false;
    this.#waiting = this.watch.parkAsync(() => this.hasWork).then(() => void (this.hasEnded = true));
  }

  async ended(): Promise<void> {
    await this.#waiting;
  }

  look(): void {
    this.clock.advance(LOOK_PERIOD_MS);
  }
}

function loseNotifies(t: TestContext): void {
  t.mock.method(Atomics, 'notify', () => 0);
}

describe('a thread with an event loop that waits for its bell', () => {
  test('is woken by it, and nothing is counted', async () => {
    const scene = new Scene();
    for (let waits = 0; waits < 3; waits++) {
      scene.park();
      for (let looks = 0; looks < 5; looks++) scene.look();
      scene.bell.ring();
      await scene.ended();
    }
    assert.equal(scene.watch.lostWakeups, 0);
    scene.watch.close();
  });

  test('is woken and counted after two checks when the bell rang without effect', async (t) => {
    const scene = new Scene();
    scene.park();
    scene.look();
    loseNotifies(t);
    scene.bell.ring();
    t.mock.restoreAll();
    scene.look();
    assert.equal(scene.watch.lostWakeups, 0);
    scene.look();
    await scene.ended();
    assert.equal(scene.watch.lostWakeups, 1);
    scene.watch.close();
  });

  test('is woken after two checks when work came without a bell', async () => {
    const scene = new Scene();
    scene.park();
    scene.hasWork = true;
    scene.look();
    scene.look();
    await scene.ended();
    assert.equal(scene.watch.lostWakeups, 1);
    scene.watch.close();
  });

  test('gives a late bell the time between two checks', async () => {
    const scene = new Scene();
    for (let waits = 0; waits < 3; waits++) {
      scene.hasWork = false;
      scene.park();
      scene.hasWork = true;
      scene.look();
      scene.bell.ring();
      await scene.ended();
    }
    assert.equal(scene.watch.lostWakeups, 0);
    scene.watch.close();
  });

  test('is woken repeatedly when only every second wake-up arrives', async (t) => {
    const { notify } = Atomics;
    let notifies = 0;
    t.mock.method(Atomics, 'notify', (...args: Parameters<typeof notify>) =>
      ++notifies % 2 === 0 ? notify(...args) : 0,
    );
    const scene = new Scene();
    scene.park();
    scene.hasWork = true;
    for (let looks = 0; looks < 4; looks++) scene.look();
    await scene.ended();
    assert.equal(scene.watch.lostWakeups, 2);
    scene.watch.close();
  });

  test('has no timer while nothing is outstanding, and is checked from the next call of `watch` on', async () => {
    const scene = new Scene();
    scene.isOutstanding = false;
    scene.park();
    scene.watch.watch();
    assert.equal(scene.clock.pending, 0);
    scene.isOutstanding = true;
    scene.hasWork = true;
    scene.look();
    assert.equal(scene.clock.pending, 0, 'until something calls');
    scene.watch.watch();
    for (let looks = 0; looks < 2; looks++) scene.look();
    await scene.ended();
    assert.equal(scene.watch.lostWakeups, 1);
    scene.isOutstanding = false;
    scene.look();
    assert.equal(scene.clock.pending, 0);
    scene.watch.close();
  });

  test('is not checked while it works, and no timer is left at the end', async () => {
    const scene = new Scene();
    scene.park();
    scene.bell.ring();
    await scene.ended();
    scene.hasWork = true;
    for (let looks = 0; looks < 5; looks++) scene.look();
    assert.equal(scene.watch.lostWakeups, 0);
    assert.equal(scene.clock.pending, 1);
    scene.watch.close();
    assert.equal(scene.clock.pending, 0);
  });
});
