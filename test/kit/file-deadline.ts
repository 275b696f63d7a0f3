/**
 * A limit for a test file whose tests ended or hang while a handle keeps the process alive. Loaded with `--import`. The
 * runner of Node 24 and 26 applies `--test-timeout` only to tests, so such a file never ends; this module applies the
 * limit to the file.
 */
import { isMainThread } from 'node:worker_threads';

const limit = process.execArgv
  .map((argument) => /^--test-timeout=(\d+)$/.exec(argument)?.[1])
  .findLast((found) => found !== undefined && found !== '0');

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined && limit !== undefined) {
  setTimeout(() => {
    const handles = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(`this test file did not end within ${limit} ms; active: ${handles}\n`);
    process.exit(1);
  }, Number(limit)).unref();
}
