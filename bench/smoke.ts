/** The check of a smoke: every case gave a valid row for every client. Figures are meaningless at that size. */
import { clientsOf } from './case.ts';
import type { BenchCase } from './case.ts';
import type { Unit } from './names.ts';
import { FIGURE } from './row.ts';
import type { Row } from './row.ts';

/** Returns a sentence for each missing or invalid row. */
export function smokeFindings(cases: readonly BenchCase[], rows: readonly Row[]): string[] {
  return cases.flatMap((benchCase) =>
    clientsOf(benchCase).flatMap((client) => {
      const own = rows.filter(
        (row) =>
          row.suite === benchCase.suite &&
          row.client === client &&
          row.handler === benchCase.task.handler &&
          row.objectBytes === benchCase.source.objectBytes &&
          row.case.split(FIGURE)[0] === benchCase.name,
      );
      const name = `${benchCase.suite}: ${benchCase.name}, ${benchCase.task.handler}, ${client}`;
      if (own.length === 0) return [`${name}: no row`];
      return own.flatMap((row) => madness(row).map((finding) => `${name} (${row.case}): ${finding}`));
    }),
  );
}

/** A wait may take no time, and a busy thread may not wait at all. */
const MAY_BE_ZERO: ReadonlySet<Unit> = new Set(['ms', 'wake-ups/s']);

/** A toolchain that is absent, in contrast to a toolchain that fails. */
const NO_TOOLCHAIN = /^not measured: no \w+ on this machine$/;

function madness({ value, min, max, error, unit }: Row): string[] {
  if (error !== undefined) return NO_TOOLCHAIN.test(error) ? [] : [error];
  if (value === null || min === null || max === null) return ['no value'];
  const isOrdered = min <= value && value <= max;
  const isNumber = Number.isFinite(value) && (value > 0 || (value === 0 && MAY_BE_ZERO.has(unit)));
  return isOrdered && isNumber ? [] : [`${min} ≤ ${value} ≤ ${max} ${unit} is not a valid figure`];
}
