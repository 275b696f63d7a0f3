/** Finds the version of an installed package, whatever its `exports` allow. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** @param entry URL of a file in the package */
export function packageVersion(entry: string): string {
  let folder = path.dirname(fileURLToPath(entry));
  while (folder !== path.dirname(folder)) {
    const version = versionIn(path.join(folder, 'package.json'));
    if (version !== undefined) return version;
    folder = path.dirname(folder);
  }
  return 'unknown';
}

function versionIn(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version;
  } catch {
    return undefined;
  }
}
