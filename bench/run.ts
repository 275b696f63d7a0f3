/** Runs the selected suites in order; consecutive cases on the same source share its process. */
import type { RunOptions } from './arguments.ts';
import { runCase } from './case-run.ts';
import { belongsTo, distinct, roundsOf, sized } from './case.ts';
import type { BenchCase } from './case.ts';
import type { ClientName } from './names.ts';
import { originKey, startOrigin } from './origin.ts';
import type { Origin } from './origin.ts';
import type { Row, Run } from './row.ts';
import { SUITE_CASES } from './suites.ts';
import { numberText, sizeText } from './table-text.ts';

/** Returns all cases to run, in order, at their size. */
export function plan({ suites, level, caseText }: RunOptions): BenchCase[] {
  const cases = suites
    .flatMap((suite) => SUITE_CASES[suite])
    .filter((benchCase) => belongsTo(benchCase, level) && benchCase.name.includes(caseText))
    .map((benchCase) => sized(benchCase, level));
  return level === 'smoke' ? distinct(cases) : cases;
}

export function roundsFor(benchCase: BenchCase, { rounds, level }: RunOptions): number {
  return rounds ?? roundsOf(benchCase, level);
}

export async function runPlan(
  cases: readonly BenchCase[],
  runOptions: RunOptions,
  onProgress: (line: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  await using origins = new OriginHolder();
  for (const benchCase of cases) {
    const origin = await origins.get(benchCase);
    const onRun = (client: ClientName, round: number, run: Run): void =>
      onProgress(progressLine(benchCase, client, round, run));
    rows.push(
      ...(await runCase(benchCase, origin, {
        rounds: roundsFor(benchCase, runOptions),
        clients: runOptions.clients,
        onRun,
      })),
    );
  }
  return rows;
}

function progressLine(benchCase: BenchCase, client: ClientName, round: number, run: Run): string {
  const { suite, name, source, task } = benchCase;
  const cpu = run.figures.find(({ unit }) => unit === 'cpu-us/event');
  const shown = [...new Set([run.figures[0], cpu])].filter((figure) => figure !== undefined);
  const texts = shown.map(({ value, unit }) => `${numberText(value)} ${unit}`);
  const result = shown.length === 0 ? (run.error ?? '') : texts.join(', ');
  return `${suite}: ${name}, ${sizeText(source.objectBytes)}, ${task.handler}: ${client} #${round + 1}: ${result}`;
}

/** The origin of the last case, kept while the next case uses the same. */
class OriginHolder implements AsyncDisposable {
  #key = '';
  #origin: Origin | undefined;

  async get(benchCase: BenchCase): Promise<Origin> {
    const key = originKey(benchCase);
    if (this.#origin !== undefined && key === this.#key) return this.#origin;
    await this.#origin?.close();
    this.#origin = await startOrigin(benchCase);
    this.#key = key;
    return this.#origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#origin?.close();
  }
}
