/** A control group that limits the memory of programs, where this process may create one: as root, without systemd. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const V2 = '/sys/fs/cgroup';
const V1 = '/sys/fs/cgroup/memory';
const NOT_PERMITTED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT']);

export class ControlGroup implements Disposable {
  readonly folder: string;

  private constructor(folder: string, limitFile: string, limitBytes: number) {
    this.folder = folder;
    writeFileSync(path.join(folder, limitFile), String(limitBytes));
  }

  /** Returns a group with this limit; undefined where that is not permitted. */
  static limitedTo(limitBytes: number): ControlGroup | undefined {
    const isV1 = existsSync(path.join(V1, 'memory.limit_in_bytes'));
    const folder = path.join(isV1 ? V1 : V2, `kubeloom-test-${process.pid}`);
    try {
      if (!isV1 && !readFileSync(path.join(V2, 'cgroup.subtree_control'), 'utf8').includes('memory'))
        return undefined;
      mkdirSync(folder);
      return new ControlGroup(folder, isV1 ? 'memory.limit_in_bytes' : 'memory.max', limitBytes);
    } catch (error) {
      if (NOT_PERMITTED.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  /** Returns a command line that runs the program in the group from its first instruction on. */
  command(program: string, args: readonly string[]): [string, string[]] {
    return ['/bin/sh', ['-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', this.folder, program, ...args]];
  }

  [Symbol.dispose](): void {
    rmdirSync(this.folder);
  }
}
