/** Builds the control plane before the end-to-end tests, whose time limits do not include it. */
import { buildControlPlane, goAvailable } from './control-plane.ts';

if (goAvailable()) await buildControlPlane();
