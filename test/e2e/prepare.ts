/** What the end-to-end tests need before the clock of their time limits runs: the control plane, built. */
import { buildControlPlane, goAvailable } from './control-plane.ts';

if (goAvailable()) await buildControlPlane();
