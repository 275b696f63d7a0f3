/**
 * A limit for a test file whose tests ended or hang while a handle keeps the process alive. Loaded with `--import`. The
 * runner of Node 24 and 26 applies `--test-timeout` only to tests, so such a file never ends; the runner of Node 20 ends
 * the file without a word about its handles. This module ends the file shortly before the limit, and names the handles.
 */
import { isMainThread } from 'node:worker_threads';

/** The file's process starts later than the runner's timer. */
const PART_OF_LIMIT = 0.95;

const limit = process.execArgv
  .map((argument) => /^--test-timeout=(\d+)$/.exec(argument)?.[1])
  .findLast((found) => found !== undefined && found !== '0');

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined && limit !== undefined) {
  const limitMs = Math.floor(Number(limit) * PART_OF_LIMIT);
  setTimeout(() => {
    const handles = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(`this test file did not end within ${limitMs} ms; active: ${handles}\n`);
    process.exit(1);
  }, limitMs).unref();
}
