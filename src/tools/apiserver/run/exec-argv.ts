/**
 * The Node flags that a thread or process of the server inherits: normally all of them (loaders, profilers, limits). If
 * the program was given as text (`node --input-type=module -e …`), none, because those flags would make every entry
 * fail.
 */

const TEXT_FLAG = /^(-e|-p|--eval|--print|--input-type)(=|$)/;

/** Returns options to spread into the options of a Worker or of fork. */
export function execArgvOption(execArgv: readonly string[] = process.execArgv): { execArgv?: string[] } {
  return execArgv.some((flag) => TEXT_FLAG.test(flag)) ? { execArgv: [] } : {};
}
