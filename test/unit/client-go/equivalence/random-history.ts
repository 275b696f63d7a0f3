/** A random history of a server: objects are created, changed and deleted, sometimes while no watch is open. */
import { seededRandom } from '../../../../src/tools/apiserver/testing/index.ts';
import type { HistoryStep } from '../queue/notation.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const STEPS = 25;
/** Maximum number of changes that no watch delivers, before a relist. */
const LOST_MAX = 4;

class RandomServer {
  readonly steps: HistoryStep[] = [];
  /** Versions by name, the oldest first. */
  readonly objects: Map<string, number> = new Map();
  readonly #random: () => number;
  #version = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  list(): void {
    for (let lost = this.#below(LOST_MAX + 1); lost > 0; lost--) this.#change();
    const items = Array.from(this.objects, ([name, version]) => `${name}@${version}`);
    // Lists of some servers are sorted, of others not.
    if (this.#random() < 0.5) items.reverse();
    this.steps.push(['replace', String(++this.#version), items.join(' ')]);
  }

  step(): void {
    const chance = this.#random();
    if (chance < 0.6) this.steps.push(this.#change());
    else if (chance < 0.72) this.list();
    // Processed at once: the pipeline leaves out an object that is deleted before (a row of the table covers it).
    else if (chance < 0.8) this.steps.push(['resync'], ['process']);
    else if (chance < 0.88) this.steps.push(['bookmark', String(++this.#version)]);
    else this.steps.push(['process']);
  }

  #change(): HistoryStep {
    const name = NAMES[this.#below(NAMES.length)] ?? '';
    const version = ++this.#version;
    const text = `${name}@${version}`;
    if (!this.objects.has(name)) {
      this.objects.set(name, version);
      return ['add', text];
    }
    if (this.#random() < 0.4) {
      this.objects.delete(name);
      return ['delete', text];
    }
    this.objects.set(name, version);
    return ['update', text];
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

export interface RandomHistory {
  readonly steps: readonly HistoryStep[];
  /** Final objects of the server, in the order of their names. */
  readonly objects: readonly string[];
}

export function randomHistory(seed: number): RandomHistory {
  const server = new RandomServer(seed);
  server.list();
  for (let count = 0; count < STEPS; count++) server.step();
  return {
    steps: server.steps,
    objects: Array.from(server.objects, ([name, version]) => `${name}@${version}`).toSorted(),
  };
}
