/**
 * The quick suites, the contract and the demo on the maintained lines of Node, and the installed package with the programs of
 * docs/examples, and the ways to look at an object, on Bun and Deno: `npm run suite -- runtimes`.
 *
 * - npm run suite -- runtimes                  runs all, one after the other
 * - npm run suite -- runtimes 22 24 bun        runs these
 * - npm run suite -- runtimes --installed 22   runs the installed package on Node as well, in place of the suites
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, pack, run, userEnvironment } from '../package/installation.ts';
import { runtimeSteps } from '../package/release-steps.ts';
import { NODES, OTHERS, programOf } from '../package/runtimes.ts';
import type { Runtime } from '../package/runtimes.ts';
import { carryOut, reasonsOf, tableOf } from '../package/steps.ts';
import type { Step } from '../package/steps.ts';
import { chosenRuntimes, countsOf } from './choice.ts';

const COMMANDS: readonly string[] = [
  'npm test',
  'npm run --silent suite -- contract --quick',
  'npm start --silent -- --json --duration 5',
];

/** Returns the steps on one Node. Their output goes to the terminal. */
function stepsOnNode(runtime: Runtime): Step[] {
  return COMMANDS.map((command) => ({
    name: `${runtime.name}: ${command}`,
    work: async () => {
      const env = userEnvironment(dirname(await programOf(runtime)));
      const child = spawn('sh', ['-c', `node --version && ${command}`], {
        cwd: ROOT,
        stdio: ['inherit', 'pipe', 'inherit'],
        env,
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        process.stdout.write(text);
      });
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      if (code !== 0) throw new Error(`ended with ${signal ?? code}`);
      return countsOf(output);
    },
  }));
}

/** Returns the step of the test that depends on the engine and its console: whether an object looks like a plain object. */
function looksOn(runtime: Runtime): Step {
  return {
    name: `${runtime.name}: looks at an object`,
    work: async () => {
      const args = [...runtime.test, 'dist/test/unit/replica/store/cut-object.test.js'];
      await run(await programOf(runtime), args, { cwd: ROOT, env: userEnvironment() });
      return '';
    },
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { installed: { type: 'boolean', default: false } },
});
const chosen = chosenRuntimes([...NODES, ...OTHERS], positionals);
console.log(`on ${chosen.map(({ name }) => name).join(', ')}`);
const folder = mkdtempSync(join(tmpdir(), 'kubeloom-runtimes-'));
const installed = chosen.filter((runtime) => values.installed || OTHERS.includes(runtime));
const tarball = installed.length > 0 ? await pack(folder) : '';
const outcomes = await carryOut(
  [
    ...chosen.filter((runtime) => !installed.includes(runtime)).flatMap(stepsOnNode),
    ...installed.flatMap((runtime) => [...runtimeSteps(runtime, tarball, folder), looksOn(runtime)]),
  ],
  (outcome) => console.log(tableOf([outcome])),
);
rmSync(folder, { recursive: true, force: true });
console.log(`\n${tableOf(outcomes)}`);
const reasons = reasonsOf(outcomes);
if (reasons !== '') {
  console.error(reasons);
  process.exitCode = 1;
}
