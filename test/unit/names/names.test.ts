/** docs/names.md has every name of client-go that this library is about, and every name of ours in it exists. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import * as kubeloom from '../../../src/index.ts';
import * as clientGo from '../../../src/client-go/index.ts';
import * as workqueue from '../../../src/workqueue/index.ts';
import * as metrics from '../../../src/metrics/index.ts';
import * as testing from '../../../src/tools/apiserver/testing/index.ts';
import { CLIENT_GO_NAMES } from './client-go-names.ts';

interface Row {
  readonly theirs: readonly string[];
  readonly ours: string;
}

const IN_BACKTICKS = /`([^`]+)`/g;

function rows(): Row[] {
  const text = readFileSync('docs/names.md', 'utf8');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, theirs = '', ours = ''] = line.split('|');
      return {
        theirs: Array.from(theirs.matchAll(IN_BACKTICKS), ([, name]) => name ?? ''),
        ours: ours.trim(),
      };
    });
}

/** Returns the exported names, including types, which do not exist at run time. */
function exportedNames(file: string): Set<string> {
  const names = new Set<string>();
  for (const [, list = ''] of readFileSync(file, 'utf8').matchAll(/export (?:type )?\{([^}]*)\}/g)) {
    for (const name of list.split(',')) names.add(name.trim().split(' as ').at(-1) ?? '');
  }
  return names;
}

const ENTRIES = [
  'src/index.ts',
  'src/client-go/index.ts',
  'src/workqueue/index.ts',
  'src/metrics/index.ts',
  'src/tools/apiserver/testing/index.ts',
];

const NOT_OURS = ['not needed', 'not public', 'not built'];

describe('docs/names.md', () => {
  for (const [folder, names] of Object.entries(CLIENT_GO_NAMES)) {
    test(`has all ${names.length} names of ${folder}`, () => {
      const known = new Set(rows().flatMap(({ theirs }) => theirs));
      assert.deepEqual(
        names.filter((name) => !known.has(name)),
        [],
      );
    });
  }

  test('names our export for each, or the reason why there is none', () => {
    const ours = new Set(ENTRIES.slice(0, -1).flatMap((file) => [...exportedNames(file)]));
    const kit = exportedNames('src/tools/apiserver/testing/index.ts');
    const wrong = rows().filter(({ ours: cell }) => {
      const name = /^`([^`]+)`/.exec(cell)?.[1];
      if (name === undefined) return !NOT_OURS.includes(cell);
      if (name === 'KubeConfig') return false;
      return !(cell.endsWith('of kubeloom/testing') ? kit : ours).has(name);
    });
    assert.deepEqual(
      wrong.map(({ theirs, ours: cell }) => `${theirs[0]}: ${cell}`),
      [],
    );
  });

  test('stands beside entries that export every name once', () => {
    const names = ENTRIES.flatMap((file) => [...exportedNames(file)]).filter((name) => name !== '');
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  test('names values that can be imported', () => {
    const values = new Set(
      [kubeloom, clientGo, workqueue, metrics, testing].flatMap((entry) => Object.keys(entry)),
    );
    const text = ENTRIES.map((file) => readFileSync(file, 'utf8')).join('');
    const declared = Array.from(text.matchAll(/export \{([^}]*)\}/g), ([, list = '']) => list.split(','));
    const names = declared.flat().map((name) => name.trim().split(' as ').at(-1) ?? '');
    assert.deepEqual(
      names.filter((name) => name !== '' && !values.has(name)),
      [],
    );
  });
});
