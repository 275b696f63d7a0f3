/** The licences of the packages that are compiled into the tools: the text that is published, and its contents as data. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}

/** A package of the text. */
export interface CompiledPackage {
  readonly name: string;
  readonly version: string;
  /** An identifier of SPDX, or an expression. */
  readonly license: string;
  readonly text: string;
}

/** Licences under which a package may be compiled in: all of them ask for their text, and no more. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]);
const SEPARATOR = `\n${'-'.repeat(80)}\n\n`;
const PART = /^(\S+) (\S+) \(([^\n]+)\)\n\n([^]*)$/;
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
  return `The tools of kubeloom (dist/tools) contain these packages.\n\n${parts.join(SEPARATOR)}`;
}

/** Returns the packages that `THIRD-PARTY-LICENSES` describes. */
export function packagesIn(licenses: string): CompiledPackage[] {
  const parts = licenses.slice(licenses.indexOf('\n\n') + 2).split(SEPARATOR);
  return parts.flatMap((part) => {
    const [, name, version, license, text] = PART.exec(part) ?? [];
    if (name === undefined || version === undefined || license === undefined) return [];
    return [{ name, version, license, text: (text ?? '').trim() }];
  });
}

/** Returns a sentence for each package that may not be compiled in, or whose licence is not reproduced. */
export function licenseObjections(packages: readonly CompiledPackage[]): string[] {
  return packages.flatMap(({ name, license, text }) => [
    ...(ALLOWED.has(license) ? [] : [`${name} is under ${license}: decide whether that may be compiled in`]),
    ...(text === '' ? [`${name} has no text of its licence in THIRD-PARTY-LICENSES`] : []),
  ]);
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
  if (text === '' && license === 'MIT') return `${name} ${version} (${license})\n\n${mitOf(manifest)}\n`;
  return `${name} ${version} (${license})\n\n${text}\n`;
}

/** The licence of a package that names it in its manifest only. @throws when the manifest names no author */
function mitOf({ name, author }: PackageManifest): string {
  const holder = typeof author === 'object' ? author.name : author;
  if (holder === undefined)
    throw new Error(`${name} names neither its licence's text nor an author: ask for them`);
  return `The package has no file with its licence, and its manifest names MIT:

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
}
