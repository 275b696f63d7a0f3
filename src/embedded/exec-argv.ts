/**
 * The Node flags that a thread or process of ours inherits: normally all (loaders, profilers, limits). A program given
 * as text (`node --input-type=module -e …`) is the exception: those flags would make every entry fail.
 */

const TEXT_FLAG = /^(-e|-p|--eval|--print|--input-type)(=|$)/;

/** To be spread into the options of a Worker or of fork. */
export function execArgvOption(execArgv: readonly string[] = process.execArgv): { execArgv?: string[] } {
  return execArgv.some((flag) => TEXT_FLAG.test(flag)) ? { execArgv: [] } : {};
}
