/** The version of the kubeloom package that this file belongs to. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Reads the nearest package.json of kubeloom above this file, wherever the file was built to. */
export function packageVersion(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const content = readJson(path.join(folder, 'package.json'));
    if (content?.name === 'kubeloom') return content.version;
    const above = path.dirname(folder);
    if (above === folder) return 'unknown';
    folder = above;
  }
}

function readJson(file: string): { readonly name: string; readonly version: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  } catch {
    return undefined;
  }
}
