/** The cases of the simulator. */
import { CASES_OF_DATA } from './cases-of-data.ts';
import { CASES_OF_NETWORKS } from './cases-of-networks.ts';
import { CASES_OF_PROGRAMS } from './cases-of-programs.ts';
import { CASES_OF_REFUSALS } from './cases-of-refusals.ts';
import { CASES_OF_STREAMS } from './cases-of-streams.ts';
import { CASES_OF_WATCHES } from './cases-of-watches.ts';
import type { FaultCase } from './fault-case.ts';
import type { SimulatedScene } from './simulated-scene.ts';

export const CASES: readonly FaultCase<SimulatedScene>[] = [
  ...CASES_OF_WATCHES,
  ...CASES_OF_REFUSALS,
  ...CASES_OF_STREAMS,
  ...CASES_OF_NETWORKS,
  ...CASES_OF_DATA,
  ...CASES_OF_PROGRAMS,
];
