/** Errors while informers run: handlers and functions of the program, stores, threads. */
export const RUNNING_ERRORS = {
  ERR_KUBELOOM_HANDLER: [
    ['onError'],
    'An event handler threw, or its promise was rejected. The next notification is delivered all the same.',
    'Correct the handler: `cause` is what it threw, and `registeredAt` of the context is where it was added.',
  ],
  ERR_KUBELOOM_SLOW_HANDLER: [
    ['onError'],
    'A call of a handler takes long or blocks its thread, or notifications wait for long.',
    'Put keys into a work queue, and process them outside the handler; compute in a `ReconcilerPool`.',
  ],
  ERR_KUBELOOM_BACKLOG_COALESCED: [
    ['onError'],
    'The backlogs of all handlers exceed `backlogBytesMax`: the handler receives several changes of one object as one.',
    'Put keys into a work queue, and process them outside the handler.',
  ],
  ERR_KUBELOOM_RESYNC_PERIOD: [
    ['onError'],
    'A resync period is shorter than the minimum, and was raised to it.',
    'Ask for at least the period that the message names, or for 0, which switches resyncs off.',
  ],
  ERR_KUBELOOM_MUTATION: [
    ['onError'],
    'The program changed an object of the cache.',
    'Change a `copy()`: the stack shows the line that wrote, or `changes` the fields.',
  ],
  ERR_KUBELOOM_ERROR_LISTENER: [
    ['onError', 'warning'],
    '`onError` or another listener threw.',
    'Correct the listener: `cause` is what it threw.',
  ],
  ERR_KUBELOOM_TRANSFORM: [
    ['thrown', 'onError'],
    'A transform threw, or returned something that cannot be stored. The object is stored as received.',
    'Correct the transform: it returns an object with the same name, namespace, uid and resourceVersion.',
  ],
  ERR_KUBELOOM_INDEX_FUNCTION: [
    ['thrown', 'onError'],
    'An index function threw, or returned no array of texts.',
    'Correct the function. An informer keeps the object without values in that index; a store writes nothing.',
  ],
  ERR_KUBELOOM_MODULE: [
    ['thrown', 'onError'],
    'A module of a transform, an index or a pool of reconcilers cannot be loaded, or lacks the export.',
    'Pass the URL of a module that a thread can import, and an export that is a function.',
  ],
  ERR_KUBELOOM_PROCESS: [
    ['thrown', 'onError'],
    'The process function of a controller failed.',
    'Correct the function: `cause` is what it threw.',
  ],
  ERR_KUBELOOM_RECONCILE: [
    ['warning'],
    'The reconcile function of a worker failed, and the workers have no `onError`. The item is queued again.',
    'Correct the function, or pass `onError`.',
  ],
  ERR_KUBELOOM_RESULT: [
    ['onError', 'warning'],
    'A reconcile function returned something else than nothing or `{ requeueAfterMs }`. The key is queued again, later each time.',
    'Correct the function: the message says what it returned, and what it probably means.',
  ],
  ERR_KUBELOOM_RATE_LIMITER: [
    ['thrown', 'onError', 'warning'],
    'A rate limiter of the program threw, or returned no delay. The item waits as long as with a limiter from 5 ms to 1000 s.',
    'Correct the limiter: `when` and `numRequeues` return finite numbers that are not negative.',
  ],
  ERR_KUBELOOM_STORE_WRITE: [
    ['thrown', 'onError'],
    'The store of a reflector refuses a list, an event or a resync.',
    'Correct the store: `cause` is what it threw.',
  ],
  ERR_KUBELOOM_THREAD_RESTARTED: [
    ['thrown', 'onError', 'warning'],
    'A thread ended, and new threads list again, or the calling thread goes on. Caches stay readable and catch up; a key that it reconciled is queued again.',
    'Read the `cause`; if it repeats, check modules and memory.',
  ],
  ERR_KUBELOOM_THREAD: [
    ['thrown', 'onError', 'health'],
    'A thread ended and is not replaced any more, so that its informers have ended.',
    'Let the program exit, so that it is started again; read the `cause`.',
  ],
  ERR_KUBELOOM_WORKER_FILE: [
    ['thrown'],
    'The entry file of a thread is not beside the bundle.',
    'Emit `kubeloom/workers/*` as docs/bundling.md says.',
  ],
  ERR_KUBELOOM_ASSERTION: [
    ['thrown', 'onError'],
    'An invariant of kubeloom is broken. This is a defect of kubeloom.',
    'Report it with the message and the stack.',
  ],
  ERR_KUBELOOM_UNEXPECTED: [
    ['thrown', 'onError', 'exit'],
    'An error without a code of this table: of Node, of another package or of a function of the program.',
    'Read the message and the `cause`.',
  ],
  ERR_KUBELOOM_HEALTH_CHECK: [
    ['warning'],
    'A check of `serveHealth` threw, or did not end in time. The answer names the check; the message has the reason.',
    'Look at the part that the check is about, or let the check end earlier.',
  ],
  ERR_KUBELOOM_TERMINAL: [
    ['thrown'],
    'A reconciliation failed for a reason that a retry cannot repair: it threw a `TerminalError`.',
    'Change the object: its key comes again only then.',
  ],
  ERR_KUBELOOM_EVENT_DROPPED: [
    ['onError', 'warning'],
    'An event recorder gave up an event: the server refused it, too many wait, or the recorder was closed.',
    'Read the cause: allow create and patch of events (RBAC), or record fewer events.',
  ],
  ERR_KUBELOOM_LEADER_LOST: [
    ['thrown'],
    'A leader could not renew its lease in time, or another candidate has it.',
    'End the process, or call `run` again: another process may lead now.',
  ],
  ERR_KUBELOOM_PARTITION: [
    ['thrown', 'onError'],
    'A controller of a partition concerns objects of other partitions: a key that `map` returns, or a namespaced kind of a cluster-scoped controller.',
    'Return keys of the namespace of the object, or run the controller in a `Manager` with a leader elector.',
  ],
} as const;
