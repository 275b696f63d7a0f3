/**
 * The number of cores that the control group of this process may use: `os` in a container reports all of the machine.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** Returns the text of a file; undefined when it cannot be read. */
export type ReadText = (path: string) => string | undefined;

const ROOT = '/sys/fs/cgroup';

/**
 * Returns how many cores the quotas of the group and of those around it allow, the smallest of them; Infinity when
 * there is none, and where there are no control groups. Reads version 1 and version 2.
 */
export function coresOfControlGroup(read: ReadText = readText): number {
  const lines = (read('/proc/self/cgroup') ?? '').split('\n');
  return Math.min(...lines.map((line) => coresOfLine(line, read)));
}

/** `0::/a/b` in version 2, `4:cpu,cpuacct:/a/b` in version 1. */
function coresOfLine(line: string, read: ReadText): number {
  const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
  if (path === '') return Infinity;
  if (controllers === '') return smallest(ROOT, path, (folder) => quotaOfVersion2(folder, read));
  const names = controllers.split(',');
  if (!names.includes('cpu')) return Infinity;
  const roots = [...new Set([controllers, 'cpu'])].map((name) => posix.join(ROOT, name));
  return Math.min(...roots.map((root) => smallest(root, path, (folder) => quotaOfVersion1(folder, read))));
}

/** Returns the folder and all above it. In a container some may be missing, or all but the root. */
function smallest(root: string, path: string, quotaOf: (folder: string) => number): number {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  const folders = Array.from({ length: names.length + 1 }, (_, depth) =>
    posix.join(root, ...names.slice(0, depth)),
  );
  return Math.min(...folders.map(quotaOf));
}

/** `cpu.max` is `50000 100000`, or `max 100000` without a quota. */
function quotaOfVersion2(folder: string, read: ReadText): number {
  const [quota, period] = (read(`${folder}/cpu.max`) ?? '').trim().split(' ');
  return ratio(quota, period);
}

/** The quota is -1 where there is none. */
function quotaOfVersion1(folder: string, read: ReadText): number {
  return ratio(read(`${folder}/cpu.cfs_quota_us`), read(`${folder}/cpu.cfs_period_us`));
}

function ratio(quota: string | undefined, period: string | undefined): number {
  const cores = Number(quota) / Number(period);
  return cores > 0 ? cores : Infinity;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
