/** Handlers of different behaviour, which are added and removed. */
import type { HandlerRegistration, SharedIndexInformer } from '../../src/index.ts';
import type { Fixtures } from './fixtures.ts';
import type { FaultSchedule } from './fault-schedule.ts';

interface Present {
  readonly name: string;
  readonly informer: SharedIndexInformer;
  readonly registration: HandlerRegistration;
}

export class Handlers {
  readonly #fixtures: Fixtures;
  readonly #faults: FaultSchedule;
  readonly #present: Present[] = [];
  #count = 0;

  constructor(fixtures: Fixtures, faults: FaultSchedule) {
    this.#fixtures = fixtures;
    this.#faults = faults;
    for (const informer of fixtures.informers) this.add(informer);
    if (fixtures.chance.happens(0.5)) this.add();
  }

  add(
    informer: SharedIndexInformer | undefined = this.#fixtures.chance.pick(this.#fixtures.informers),
  ): void {
    const { chance, recorder } = this.#fixtures;
    if (!informer) throw new RangeError('the simulation has no informer');
    const name = `handler-${++this.#count}`;
    const resync = chance.happens(0.2) ? { resyncPeriodMs: chance.integer(1000, 30_000) } : {};
    const registration = recorder.handler(informer, name, { react: () => this.#react(), ...resync });
    this.#present.push({ name, informer, registration });
  }

  /** Removes a handler, but never an informer's first one, which observes the whole run. */
  remove(): void {
    const { chance, recorder, informers } = this.#fixtures;
    const present = chance.pick(this.#present.slice(informers.length));
    if (!present) return;
    const { name, informer, registration } = present;
    this.#present.splice(this.#present.indexOf(present), 1);
    informer.removeEventHandler(registration, chance.happens(0.5) ? { drain: true } : {});
    recorder.removed(name);
  }

  get count(): number {
    return this.#present.length;
  }

  #react(): unknown {
    const { chance, clock } = this.#fixtures;
    const faults = this.#faults;
    if (faults.has('handler throws') && chance.happens(0.05)) {
      faults.strike('handler throws');
      throw new Error('a handler threw');
    }
    if (faults.has('handler rejects') && chance.happens(0.05)) {
      faults.strike('handler rejects');
      return Promise.reject(new Error('a handler rejected'));
    }
    if (!faults.has('handler slow') || !chance.happens(0.1)) return undefined;
    faults.strike('handler slow');
    return new Promise<void>((resolve) => clock.schedule(chance.magnitude(1, 5000), resolve));
  }
}
