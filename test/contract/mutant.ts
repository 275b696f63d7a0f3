/**
 * One fault for each clause, put into our own code: `find` stands exactly once in the compiled file, and the
 * tests of the clause must fail when `replace` stands there instead. (The compiler keeps what is no type, and
 * indents by four.) When the code changes so that a fault cannot be found any more, choose another one.
 */
import type { ConfigurationName } from './configuration-names.ts';

export interface Mutant {
  readonly clause: string;
  /** The source file; what is changed is what it is compiled to. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Where the fault shows. Default: the twin. */
  readonly configuration?: ConfigurationName;
}
