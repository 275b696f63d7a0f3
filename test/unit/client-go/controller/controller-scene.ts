/** A plain informer over a scripted ListerWatcher, with functions to run and stop it. */
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import type { PlainInformer, PlainInformerOptions } from '../../../../src/client-go/controller/informer.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { RecordingHandler } from './recording-handler.ts';
import { settle } from './reflector-scene.ts';
import { ScriptedListerWatcher } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

export class InformerScene {
  readonly clock: FakeClock = new FakeClock();
  readonly source: ScriptedListerWatcher = new ScriptedListerWatcher();
  readonly handler: RecordingHandler = new RecordingHandler();
  readonly errors: string[] = [];
  readonly informer: PlainInformer<Pod>;
  readonly #controller = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: Partial<PlainInformerOptions<Pod>> = {}) {
    this.informer = newInformerWithOptions<Pod>({
      listerWatcher: this.source,
      handler: this.handler,
      clock: this.clock,
      random: () => 0,
      watchErrorHandler: (error, during) => this.errors.push(`${during} ${error.code}`),
      ...options,
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async run(): Promise<this> {
    this.#running = this.informer.controller.run(this.signal);
    await settle();
    return this;
  }

  /** Resolves when the controller has returned. */
  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#running;
  }
}
