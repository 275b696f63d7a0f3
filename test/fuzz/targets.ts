/** All targets of the fuzz. */
import type { FuzzTarget } from './probe.ts';
import { ANSWER_TARGETS } from './targets-of-answers.ts';
import { PROGRAM_TARGETS } from './targets-of-programs.ts';
import { WRITER_TARGETS } from './targets-of-writers.ts';

export const TARGETS: readonly FuzzTarget[] = [...ANSWER_TARGETS, ...PROGRAM_TARGETS, ...WRITER_TARGETS];
