/** The costs of the processes of a machine, collected from their reports. */
import type { Timed } from '../run/series.ts';
import { nowUs } from '../watch/recording-handler.ts';
import type { ProcessCost } from './cost.ts';

export class CostLog {
  readonly byProcess: ReadonlyMap<string, readonly Timed<ProcessCost>[]>;
  readonly #byProcess = new Map<string, Timed<ProcessCost>[]>();
  readonly #startedUs: number;

  /** @param startedUs the start of the run, by `nowUs` */
  constructor(startedUs: number) {
    this.#startedUs = startedUs;
    this.byProcess = this.#byProcess;
  }

  keep(process: string, value: ProcessCost): void {
    const costs = this.#byProcess.get(process) ?? [];
    this.#byProcess.set(process, costs);
    costs.push({ atMs: (nowUs() - this.#startedUs) / 1000, value });
  }
}
