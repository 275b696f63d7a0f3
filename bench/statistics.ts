/** The numbers that summarise several runs. */

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * Returns median and range; undefined without values. The median of an even number is the mean of the two in
 * the middle.
 */
export function summarise(values: readonly number[]): Summary | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) return undefined;
  const above = sorted[Math.floor(sorted.length / 2)] ?? max;
  const below = sorted[Math.ceil(sorted.length / 2) - 1] ?? min;
  return { median: (above + below) / 2, min, max };
}

/**
 * Returns how much better `own` is than `peer`; above 1 it is better. It is the median over the rounds in
 * which both were measured, since neighbouring runs saw the same machine. Null when there is no such round.
 */
export function ratioOf(
  own: readonly (number | undefined)[],
  peer: readonly (number | undefined)[],
  isMoreBetter: boolean,
): number | null {
  const ratios: number[] = [];
  for (const [round, value] of own.entries()) {
    const other = peer[round];
    if (value === undefined || other === undefined) continue;
    const ratio = isMoreBetter ? value / other : other / value;
    if (Number.isFinite(ratio)) ratios.push(ratio);
  }
  return summarise(ratios)?.median ?? null;
}
