/** Entry of an indexer thread: Piscina calls the exported function once, and it runs until shutdown. */
export { runShard as default } from '../src/threads/shard-loop.ts';
