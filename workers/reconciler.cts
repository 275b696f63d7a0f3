/**
 * Entry of a thread that reconciles: Piscina calls the exported function with each task.
 *
 * The file is CommonJS and imports the rest. Piscina loads it with `require`, and a thread that ends while `require`
 * links an ES module aborts the whole process (Node 20); a thread that ends during an `import` only ends.
 */
async function reconcile(
  task: import('../src/thread/pool/messages.ts').PoolTask,
): Promise<import('../src/thread/pool/messages.ts').Answer> {
  const { isMainThread } = await import('node:worker_threads');
  if (isMainThread)
    throw new Error(
      'workers/reconciler is the entry of a worker thread, which kubeloom starts: do not import it',
    );
  const { runTask } = await import('../src/thread/pool/reconcile-task.ts');
  return runTask(task);
}

module.exports = reconcile;
