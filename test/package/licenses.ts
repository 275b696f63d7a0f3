/** The licences of the packages that are compiled into the tools. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * Returns the text of `THIRD-PARTY-LICENSES`: each package with its version, its licence's name and its licence's text.
 *
 * @param inputs files that a bundle was made of, relative to the root
 * @throws when a package names no licence
 */
export function licensesOf(root: string, inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  const parts = [...folders].sort().map((folder) => partOf(join(root, folder)));
  return `The tools of kubeloom (dist/tools) contain these packages.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function partOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageManifest;
  const { name, version, license } = manifest;
  if (license === undefined) throw new Error(`${name} names no licence: find out which it has`);
  const texts = existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => LICENSE_FILE.test(file))
        .sort()
    : [];
  const text = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  return `${name} ${version} (${license})\n\n${text}\n`;
}
