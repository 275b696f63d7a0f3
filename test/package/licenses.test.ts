/** Tests of the licences of compiled packages: the published text holds them, and an unusual licence is refused. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { licenseObjections, licensesOf, packagesIn } from './licenses.ts';

/** Writes the manifest of a package, and its licence. */
function writePackage(folder: TemporaryFolder, name: string, license: string, text: string): string {
  const file = folder.file(`node_modules/${name}/package.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ name, version: '1.2.3', license, author: 'Ada' }));
  if (text !== '') writeFileSync(`${dirname(file)}/LICENSE.txt`, `${text}\n`);
  return `node_modules/${name}/package.json`;
}

test('the text of the licences holds each package with its version, its licence and the licence’s text', async () => {
  await using folder = new TemporaryFolder();
  const text = `Permission is granted.\n\n${'-'.repeat(80)}\n\nTwice.`;
  const inputs = [
    writePackage(folder, '@a/b', 'MIT', 'Do as you like.'),
    writePackage(folder, 'c', 'ISC', text.replaceAll('-'.repeat(80), '-'.repeat(40))),
  ];
  assert.deepEqual(packagesIn(licensesOf(folder.path, inputs)), [
    { name: '@a/b', version: '1.2.3', license: 'MIT', text: 'Do as you like.' },
    { name: 'c', version: '1.2.3', license: 'ISC', text: text.replaceAll('-'.repeat(80), '-'.repeat(40)) },
  ]);
});

test('a package under an unusual licence, or without the text of its licence, is refused', async () => {
  await using folder = new TemporaryFolder();
  const inputs = [
    writePackage(folder, 'free', 'MIT', 'Do as you like.'),
    writePackage(folder, 'strict', 'AGPL-3.0', 'Share.'),
    writePackage(folder, 'terse', 'ISC', ''),
  ];
  assert.deepEqual(licenseObjections(packagesIn(licensesOf(folder.path, inputs))), [
    'strict is under AGPL-3.0: decide whether that may be compiled in',
    'terse has no text of its licence in THIRD-PARTY-LICENSES',
  ]);
});

test('a package that names MIT in its manifest only has the text of MIT with its author', async () => {
  await using folder = new TemporaryFolder();
  const [compiled] = packagesIn(licensesOf(folder.path, [writePackage(folder, 'terse', 'MIT', '')]));
  assert.match(compiled?.text ?? '', /\n\nCopyright \(c\) Ada\n\nPermission is hereby granted/);
  assert.deepEqual(licenseObjections(compiled ? [compiled] : []), []);
});
