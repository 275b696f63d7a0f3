/** Schedule of the main thread's drains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MainLoop } from '../../../../src/informer/threads/main-loop.ts';
import type { LoopTimers, LoopWork } from '../../../../src/informer/threads/main-loop.ts';

class Scene {
  readonly immediates: (() => void)[] = [];
  turns = 0;
  parks = 0;
  hasWork = false;
  /** Records of the next turn. */
  merged = 0;
  #woken: () => void = () => undefined;
  readonly loop: MainLoop;

  constructor(hasBell: boolean, pausesMore: number = 0) {
    const setImmediate = (task: () => void): void => void this.immediates.push(task);
    const timers = { setImmediate, setTimeout: setImmediate } as unknown as LoopTimers;
    this.loop = new MainLoop(timers, 0, pausesMore);
    const drain = {
      lastMerged: 0,
      hasWork: () => this.hasWork,
      runOnce: () => {
        this.turns++;
        drain.lastMerged = this.merged;
        this.merged = 0;
        return false;
      },
    };
    const bell = { ring: () => undefined, parkAsync: () => this.#park() };
    this.loop.start({
      drain: drain as unknown as LoopWork['drain'],
      bell: hasBell ? bell : undefined,
      inProcess: undefined,
    });
  }

  /** Runs the tasks that wait. */
  run(): void {
    for (const task of this.immediates.splice(0)) task();
  }

  async wakeUp(): Promise<void> {
    this.#woken();
    await new Promise((resolve) => setImmediate(resolve));
  }

  #park(): Promise<void> {
    this.parks++;
    return new Promise((resolve) => (this.#woken = resolve));
  }
}

test('a bell is followed by a turn in the next task, so that the event loop turns in between', async () => {
  const scene = new Scene(true);
  scene.run();
  await scene.wakeUp();
  assert.deepEqual([scene.turns, scene.parks, scene.immediates.length], [1, 1, 1]);
  scene.run();
  assert.deepEqual([scene.turns, scene.parks, scene.immediates.length], [2, 2, 0]);
});

test('a bell adds no turn to one that is scheduled', async () => {
  const scene = new Scene(true);
  scene.run();
  scene.loop.wake();
  await scene.wakeUp();
  assert.deepEqual([scene.turns, scene.immediates.length], [1, 1]);
});

test('without other threads the loop waits for calls only', () => {
  const scene = new Scene(false);
  scene.run();
  assert.deepEqual([scene.turns, scene.immediates.length], [1, 0]);
  scene.hasWork = true;
  scene.loop.wake();
  scene.run();
  assert.deepEqual([scene.turns, scene.immediates.length], [2, 1]);
});

test('a turn with records is followed by a pause and by those that were asked for, and then the loop parks', () => {
  const scene = new Scene(true, 2);
  scene.merged = 1;
  for (let turn = 0; turn < 3; turn++) scene.run();
  assert.deepEqual([scene.turns, scene.parks], [3, 0]);
  scene.run();
  assert.deepEqual([scene.turns, scene.parks], [4, 1]);
});
