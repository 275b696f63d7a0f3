/** Scene of a case in virtual time: no socket, no thread, no pause. */
import { CaseScene } from './case-scene.ts';
import type { SceneOptions } from './fault-case.ts';
import { World } from './world.ts';

/** Limit of a case's wait in virtual time; a longer one fails. */
const WAIT_MS = 60_000;

export class SimulatedScene extends CaseScene {
  readonly world: World;

  private constructor(options: SceneOptions, world: World) {
    super(options, world);
    this.world = world;
  }

  static async start(options: SceneOptions, seed: number): Promise<SimulatedScene> {
    const scene = new SimulatedScene(options, new World(seed, options.server, options.threads));
    await scene.begin();
    return scene;
  }

  override get strikes(): readonly string[] {
    return [...this.own, ...this.world.network.landed];
  }

  get now(): number {
    return this.world.clock.now();
  }

  async until(isDone: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = this.now + WAIT_MS;
    for (;;) {
      const isAtRest = !(await this.world.work());
      if (await isDone()) return;
      if (isAtRest && !this.world.advance(end)) throw new Error(`waited ${WAIT_MS} ms in vain until ${what}`);
    }
  }

  later(ms: number): Promise<void> {
    return new Promise((resolve) => this.world.clock.schedule(ms, resolve));
  }

  /** Lets the time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    while ((await this.world.work()) || this.world.advance(end));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    let isEnded = false;
    const ended = super[Symbol.asyncDispose]().then(() => this.threads.close());
    void ended.finally(() => (isEnded = true));
    await this.until(() => isEnded, 'the scene has ended');
    await this.server.close();
  }
}
