/** The cases that need sockets, threads or a process, in the order of the table. */
import { CASES_OF_MACHINES } from './cases-of-machines.ts';
import { CASES_OF_PROGRAMS } from './cases-of-programs.ts';
import { CASES_OF_SOCKETS } from './cases-of-sockets.ts';
import { CASES_OF_THREADS } from './cases-of-threads.ts';
import { CASES_OF_TRUST } from './cases-of-trust.ts';
import type { RealCase } from './scene.ts';

export const CASES: readonly RealCase[] = [
  ...CASES_OF_SOCKETS,
  ...CASES_OF_TRUST,
  ...CASES_OF_PROGRAMS,
  ...CASES_OF_MACHINES,
  ...CASES_OF_THREADS,
];
