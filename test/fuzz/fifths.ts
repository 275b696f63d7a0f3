/** A part of the cases of the fuzz: each fifth of the seeds has its turn. */

const PARTS = 5;

/**
 * Returns whether a seed is in one of the fifths.
 *
 * @param fifths numbers from 0 to 4, separated by commas; undefined for all seeds
 * @throws for anything else
 */
export function ofFifths(fifths: string | undefined): (seed: number) => boolean {
  if (fifths === undefined) return () => true;
  const remainders = fifths.split(',').map(Number);
  if (!remainders.every((each) => Number.isInteger(each) && each >= 0 && each < PARTS))
    throw new Error(`--fifths ${fifths}: pass numbers from 0 to ${PARTS - 1}, such as 0,3`);
  return (seed) => remainders.includes(seed % PARTS);
}
