/**
 * The quick suites, the contract and the demo on the maintained lines of Node: `npm run runtimes`.
 *
 * - npm run runtimes             runs all lines, one after the other
 * - npm run runtimes -- 22 24    runs these
 * - npm run runtimes -- --turn   runs the line whose turn it is, by the commit: CI
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { ROOT, userEnvironment } from '../package/installation.ts';
import { NODES, programOf } from '../package/runtimes.ts';
import type { Runtime } from '../package/runtimes.ts';
import { carryOut, reasonsOf, tableOf } from '../package/steps.ts';
import type { Step } from '../package/steps.ts';
import { chosenNodes, turnOf } from './turn.ts';

const args = process.argv.slice(2);
const isTurn = args.includes('--turn');
const DEMO = 'npm start --silent -- --json --duration 5';
const COMMANDS: readonly string[] = ['npm test', 'npm run contract', DEMO];
/** A run of CI has tested every configuration of the contract on its own Node. */
const COMMANDS_OF_A_TURN: readonly string[] = ['npm test', 'npm run contract -- --quick', DEMO];

/** Returns the steps on one Node. Their output goes to the terminal. */
function stepsOn(runtime: Runtime): Step[] {
  return (isTurn ? COMMANDS_OF_A_TURN : COMMANDS).map((command) => ({
    name: `${runtime.name}: ${command}`,
    work: async () => {
      const env = userEnvironment(dirname(await programOf(runtime)));
      const child = spawn('sh', ['-c', `node --version && ${command}`], { cwd: ROOT, stdio: 'inherit', env });
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      if (code !== 0) throw new Error(`ended with ${signal ?? code}`);
      return '';
    },
  }));
}

/** Returns the commit that is tested; without a repository, a number for the day. */
function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch {
    return Math.floor(Date.now() / 86_400_000).toString(16);
  }
}

const chosen = isTurn ? [turnOf(NODES, process.version, commitOf())] : chosenNodes(NODES, args);
console.log(`on ${chosen.map(({ name }) => name).join(', ')}`);
const outcomes = await carryOut(chosen.flatMap(stepsOn));
console.log(`\n${tableOf(outcomes)}`);
const reasons = reasonsOf(outcomes);
if (reasons !== '') {
  console.error(reasons);
  process.exitCode = 1;
}
