/** Which test files share a process: starting a process takes longer than the tests of most files. */
import { dirname } from 'node:path';

export interface TestFile {
  /** Relative to the compiled tests: `unit/http/error-body.test.js`. */
  readonly path: string;
  readonly text: string;
}

const FILES_MAX = 6;
const SHARED_FOLDER = 'unit/';
/** Hooks outside a suite apply to every test of the process; a mock, a metric or a listener lasts as long as the process. */
const OF_THE_PROCESS =
  /^(before|after|beforeEach|afterEach)\b|^import \{[^}]*\bmock\b|\bprocess\.(?!execPath|version|platform|arch|cwd)|collectMetrics|diagnostics_channel/m;

/** Returns the groups in the order of their files. A file is in a group with files of its own room only. */
export function groupTests(files: readonly TestFile[]): string[][] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const { path, text } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (!path.startsWith(SHARED_FOLDER) || OF_THE_PROCESS.test(text)) {
      groups.push([path]);
      continue;
    }
    const room = dirname(path).split('/').slice(0, 2).join('/');
    const group = open.get(room);
    if (group !== undefined && group.length < FILES_MAX) group.push(path);
    else {
      const next = [path];
      open.set(room, next);
      groups.push(next);
    }
  }
  return groups;
}
