/** Entry of the process that runs the high-rate source. Wiring only. */

import { SourceServer } from './server.ts';
import type { SourceOptions } from './server.ts';
import type { SourceReady } from './start.ts';
import { Word, allocateWords } from '../../src/shared/ring/word.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as SourceOptions;
/** A word that never changes: waiting for it blocks until the timeout. */
const never = new Word(new Int32Array(allocateWords(1)), 0);
const server = new SourceServer(options, (timeoutMs) => void never.wait(0, timeoutMs));
await server.listen();
// When the channel closes, the parent process has ended.
process.on('disconnect', () => process.exit(0));
process.send?.({ url: server.url, ca: server.ca } satisfies SourceReady);
