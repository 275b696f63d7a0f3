/** The surroundings of credentials in a test: files in a temporary folder, kubeconfigs, the environment, and errors. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';

/** Exists until the tests of the file have ended. */
export const folder: string = mkdtempSync(join(tmpdir(), 'kubeloom-credentials-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** Writes a file and returns its path. */
export function file(text: string, name = `file-${++files}`, mode = 0o644): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  return path;
}

export const PLUGIN_VERSION = {
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'Never',
} as const;

/** Returns a process that counts its runs; `status` is code that reads `n`, the number of this run. */
export function plugin(
  status: string,
  options: object = {},
): { readonly exec: object; readonly runs: () => number } {
  const log = file('');
  const { apiVersion } = PLUGIN_VERSION;
  // CommonJS, also where a package.json above the folder says `module`.
  const script = file(
    `
    const fs = require('node:fs');
    fs.appendFileSync(${JSON.stringify(log)}, 'x');
    const n = fs.readFileSync(${JSON.stringify(log)}).length;
    const status = ${status};
    if (status) console.log(JSON.stringify({ apiVersion: '${apiVersion}', kind: 'ExecCredential', status }));
  `,
    `program-${++files}.cjs`,
  );
  return {
    exec: { ...PLUGIN_VERSION, command: process.execPath, args: [script], ...options },
    runs: () => readFileSync(log).length,
  };
}

/** The variables that each test has set. */
const changed = new WeakMap<TestContext, Set<string>>();

/** Sets variables of the environment until the test has ended. */
export function setEnvironment(context: TestContext, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const saved = process.env[name];
    process.env[name] = value;
    const names = changed.get(context) ?? new Set();
    changed.set(context, names);
    if (names.has(name)) continue;
    names.add(name);
    context.after(() => {
      if (saved === undefined) delete process.env[name];
      else process.env[name] = saved;
    });
  }
}

/** Returns a check of an error: its code and message, and that it does not quote the secret anywhere. */
export function failure(code: string, message: RegExp, secret: RegExp): (error: Error) => true {
  return (error) => {
    assert.equal(Reflect.get(error, 'code'), code);
    assert.match(error.message, message);
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), secret);
    return true;
  };
}
