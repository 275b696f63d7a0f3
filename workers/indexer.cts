/**
 * Entry of an indexer thread: Piscina calls the exported function once, and the function runs until shutdown.
 *
 * The file is CommonJS and imports the rest. Piscina loads it with `require`, and a thread that ends while `require`
 * links an ES module aborts the whole process (Node 20); a thread that ends during an `import` only ends.
 */
async function runIndexer(task: import('../src/indexer/shard-loop.ts').ShardTask): Promise<void> {
  const { isMainThread } = await import('node:worker_threads');
  if (isMainThread)
    throw new Error(
      'workers/indexer is the entry of a worker thread, which kubeloom starts: do not import it',
    );
  const { runShard } = await import('../src/indexer/shard-loop.ts');
  await runShard(task);
}

module.exports = runIndexer;
