/** All cases in the order of the table. */
import { CASES_OF_DATA } from './cases-of-data.ts';
import { CASES_OF_MACHINES } from './cases-of-machines.ts';
import { CASES_OF_PROGRAMS } from './cases-of-programs.ts';
import { CASES_OF_REFUSALS } from './cases-of-refusals.ts';
import { CASES_OF_SOCKETS } from './cases-of-sockets.ts';
import { CASES_OF_STREAMS } from './cases-of-streams.ts';
import { CASES_OF_THREADS } from './cases-of-threads.ts';
import { CASES_OF_TRUST } from './cases-of-trust.ts';
import { CASES_OF_WATCHES } from './cases-of-watches.ts';
import type { FaultCase } from './fault-case.ts';

const number = ({ id }: FaultCase): number => Number.parseInt(id, 10);

export const CASES: readonly FaultCase[] = [
  ...CASES_OF_WATCHES,
  ...CASES_OF_REFUSALS,
  ...CASES_OF_STREAMS,
  ...CASES_OF_SOCKETS,
  ...CASES_OF_TRUST,
  ...CASES_OF_DATA,
  ...CASES_OF_PROGRAMS,
  ...CASES_OF_MACHINES,
  ...CASES_OF_THREADS,
].sort((a, b) => number(a) - number(b));
