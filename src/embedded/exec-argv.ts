/**
 * The Node flags that a thread or process of ours inherits: all (loaders, profilers, limits), but not those that say
 * where the program of this process comes from. `node --input-type=module -e …` would otherwise fail in every entry.
 */

const WITH_VALUE = new Set(['-e', '--eval', '-p', '--print', '--input-type']);

export function inheritedExecArgv(execArgv: readonly string[] = process.execArgv): string[] {
  return execArgv.filter((flag, index) => {
    const [name = ''] = flag.split('=', 1);
    const isValue = index > 0 && WITH_VALUE.has(execArgv[index - 1] ?? '');
    return !WITH_VALUE.has(name) && !isValue;
  });
}
