/** The scripts that run at installation, and the sources of dependencies. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const { scripts, dependencies } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};
const lock = readFileSync(`${ROOT}/package-lock.json`, 'utf8');

interface LockedPackage {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** The scripts that npm runs by itself, for developers or users of the package. */
const LIFECYCLE =
  /^(pre|post)?(install|uninstall|publish|prepare|pack|version|dependencies)$|^prepublishOnly$/;

test('no script runs when the package is installed; the build runs when it is packed, a check before it is published', () => {
  const lifecycle = Object.keys(scripts).filter((name) => LIFECYCLE.test(name));
  assert.deepEqual(lifecycle, ['prepare', 'prepublishOnly']);
  assert.match(scripts['prepare'] ?? '', /^tsc && /);
});

test('of all dependencies of users only an optional one runs a script at installation', () => {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockedPackage>> };
  const running = Object.entries(packages).filter(
    ([, locked]) => locked.hasInstallScript === true && locked.dev !== true,
  );
  // msgpackr's native part: it is not needed, and `npm ci --ignore-scripts` leaves it out.
  const optional = running.map(([path, { optional }]) => [path, optional]);
  assert.deepEqual(optional, [['node_modules/msgpackr-extract', true]]);
  assert.ok(Object.keys(dependencies).length <= 13, 'few');
});

test('the lock file names no registry', () => {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockedPackage>> };
  const resolved = Object.entries(packages).filter(
    ([, locked]) => locked.resolved !== undefined && locked.link !== true,
  );
  assert.deepEqual(resolved, []);
  assert.doesNotMatch(lock, /"resolved": "https?:/);
});

test('the lock file contains the digest of every package, also for other platforms', () => {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockedPackage>> };
  const unchecked = Object.entries(packages).filter(
    ([path, { link, integrity }]) => path !== '' && link !== true && !integrity?.startsWith('sha512-'),
  );
  assert.deepEqual(
    unchecked.map(([path]) => path),
    [],
  );
});
