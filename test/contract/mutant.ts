/**
 * A fault for each clause in kubeloom's own code. The text to find occurs exactly once in the compiled file, and the
 * tests of the clause must fail when the other text takes its place. White space does not matter. If a change of the
 * code removes the text, choose another fault.
 */
import type { ConfigurationName } from './configuration-names.ts';
import type { Fault } from './fault.ts';

export interface Mutant extends Fault {
  readonly clause: string;
  /** Configuration in which the fault shows. Default: the twin. */
  readonly configuration?: ConfigurationName;
}

type Row = readonly [find: string, replace: string, configuration?: ConfigurationName];

/** Returns the mutants of a table: source file, then clause. */
export function inFiles(table: Readonly<Record<string, Readonly<Record<string, Row>>>>): readonly Mutant[] {
  return Object.entries(table).flatMap(([file, rows]) =>
    Object.entries(rows).map(([clause, [find, replace, configuration]]) => {
      return { clause, file, find, replace, ...(configuration ? { configuration } : {}) };
    }),
  );
}
