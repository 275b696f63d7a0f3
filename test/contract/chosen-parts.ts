/** The parts of the contract that a run has to run. Pure. */
import { turnAmong } from '../runtimes/commit.ts';
import { RUNS } from './configuration-names.ts';
import { LAYERS } from './verdict.ts';
import type { Part } from './verdict.ts';

interface Choice {
  /** Names, separated by commas. */
  readonly configurations?: string | undefined;
  readonly quick?: boolean | undefined;
  readonly turn?: boolean | undefined;
}

const ALL: readonly Part[] = [...RUNS, LAYERS];
/** Together they have both codecs, and both ways to run: in-process and with several threads. */
const QUICK: readonly Part[] = ['twin:json', 'threads-3:msgpack'];

/**
 * Returns all parts without a choice.
 *
 * @param commit hexadecimal digits, which choose the additional configuration of `turn`
 * @throws for an unknown name
 */
export function chosenParts({ configurations, quick, turn }: Choice, commit: string): readonly Part[] {
  if (configurations !== undefined) return configurations.split(',').map(partOf);
  if (!quick && !turn) return ALL;
  const others = RUNS.filter((run) => !QUICK.includes(run));
  return turn ? [...QUICK, ...others.slice(turnAmong(others.length, commit)).slice(0, 1)] : QUICK;
}

function partOf(name: string): Part {
  const part = ALL.find((each) => each === name);
  if (part === undefined) throw new Error(`no configuration ${name}: pass some of ${ALL.join(',')}`);
  return part;
}
