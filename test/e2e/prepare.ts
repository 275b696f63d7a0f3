/** Builds the Go programs before the end-to-end tests, whose time limits do not include it. */
import { buildControlPlane } from './control-plane.ts';
import { goAvailable } from './go-program.ts';
import { buildPrometheus } from './prometheus.ts';

if (goAvailable()) {
  await buildPrometheus();
  await buildControlPlane();
}
