/**
 * One fault for each clause in kubeloom's own code. `find` occurs exactly once in the compiled file, and the tests of
 * the clause must fail when `replace` stands in its place. White space does not matter. Choose another fault when a
 * change of the code removes the text.
 */
import type { ConfigurationName } from './configuration-names.ts';

export interface Mutant {
  readonly clause: string;
  /** Source file; the fault changes its compiled form. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Configuration in which the fault shows. Default: the twin. */
  readonly configuration?: ConfigurationName;
}
