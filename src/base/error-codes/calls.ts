/** Errors of a call: the program asked for something that cannot be done, or not at that time. */
export const CALL_ERRORS = {
  ERR_KUBELOOM_OPTION: [
    ['thrown', 'onError'],
    'An option or argument has a value that is not allowed, or two of them exclude each other.',
    'Change the call: the message names the value and what is allowed.',
  ],
  ERR_KUBELOOM_SELECTOR: [
    ['thrown'],
    'A label or field selector cannot be parsed.',
    'Correct the selector: the message has the place and what was expected there.',
  ],
  ERR_KUBELOOM_KEY: [
    ['thrown'],
    'An object has no key, a text is no key, or a key function gave none or several.',
    'Pass an object with metadata.name, or a key in the form `namespace/name`.',
  ],
  ERR_KUBELOOM_RESOURCE_VERSION: [
    ['thrown'],
    'A resourceVersion is not decimal, so that it has no order.',
    'Pass the resourceVersion that the server returned. The versions of some aggregated servers have no order.',
  ],
  ERR_KUBELOOM_UNKNOWN_RESOURCE: [
    ['thrown'],
    'Neither the server nor the built-in table has the resource.',
    'Check the name with `kubectl api-resources`; install the CRD first, or pass kind and scope.',
  ],
  ERR_KUBELOOM_AMBIGUOUS_RESOURCE: [
    ['thrown'],
    'A name fits resources of several groups.',
    'Name the group as well, such as `ingresses.networking.k8s.io`.',
  ],
  ERR_KUBELOOM_NOT_WATCHABLE: [
    ['thrown'],
    'The server does not list and watch the resource.',
    'Request the objects directly: an informer needs both verbs.',
  ],
  ERR_KUBELOOM_STARTED: [
    ['thrown'],
    'The object was already started: it runs once, and this call is allowed only before the start.',
    'Make the call before the start, or create a new instance.',
  ],
  ERR_KUBELOOM_NOT_STARTED: [
    ['thrown', 'onError'],
    'A read or a wait needs an informer that was never started, or an end has no beginning.',
    'Call `run()` of the informer, or `start()` of its factory: again for an informer that was requested after it.',
  ],
  ERR_KUBELOOM_STOPPED: [
    ['thrown'],
    'The informer, its factory or its threads were stopped, so the call cannot succeed any more.',
    'Create a new one; ignore the error when the program is shutting down.',
  ],
  ERR_KUBELOOM_NOT_SYNCED: [
    ['thrown'],
    'The wait for a sync was aborted, or an informer ended before it synced.',
    'Read `missing` of the error: it has the phase and the last error of each informer.',
  ],
  ERR_KUBELOOM_STILL_RUNNING: [
    ['thrown'],
    'Handlers, informers or reconciliations had not ended in time after a stop.',
    'Allow more time, or make what the message names return: handlers, or reconciliations of keys.',
  ],
  ERR_KUBELOOM_OWN_CALL: [
    ['thrown'],
    'A handler waits for its own removal, which waits for that call.',
    'Call `removeEventHandler()` inside a handler, or do not await the removal there.',
  ],
  ERR_KUBELOOM_THREADS_CONFLICT: [
    ['thrown'],
    'Two informers ask for the shared threads with different options.',
    'Pass the same options everywhere, or give one informer an `InformerThreads` of its own.',
  ],
  ERR_KUBELOOM_INDEXER_CONFLICT: [
    ['thrown'],
    'An index with the name exists already. Nothing was added.',
    'Use another name, or add the index once.',
  ],
  ERR_KUBELOOM_NO_INDEX: [
    ['thrown'],
    'A read names an index or a field that is not indexed.',
    'Add the index first: `addIndexers()`, or `indexField()` for a field.',
  ],
  ERR_KUBELOOM_NOT_FOUND: [
    ['thrown', 'onError', 'health'],
    'The cache or the server does not have the object, or the server does not serve the resource.',
    'For an object, treat it as deleted. For a resource, check group and version, and whether the CRD is installed.',
  ],
  ERR_KUBELOOM_NOT_CACHED: [
    ['thrown'],
    'No handle keeps the kind in this view and namespace, or it has not synced.',
    'Await `informerFor()` of the kind first, and keep its handle. In a controller, declare the kind with `owns()` or `watches()`.',
  ],
  ERR_KUBELOOM_CONTINUE: [
    ['thrown'],
    'A continue token is not of this cache or not of this list.',
    'Pass `continue` of the previous page, with the same kind, view, namespace and selectors.',
  ],
  ERR_KUBELOOM_BORROW_EXPIRED: [
    ['thrown'],
    'A cached object was read after the end of the call that borrowed it.',
    'Read it inside the call, call `retain()` there, or get it from the lister again.',
  ],
  ERR_KUBELOOM_READ_ONLY: [
    ['thrown'],
    'The program writes to the metadata of a cached object.',
    'Write to a `copy()`.',
  ],
  ERR_KUBELOOM_CLONE: [
    ['thrown'],
    'A cached object was sent to another thread.',
    'Send `bytes()` of the object, or the fields that the thread needs.',
  ],
  ERR_KUBELOOM_QUEUE_CLOSED: [
    ['thrown'],
    'A queue or heap was closed.',
    'End the loop that pops; add nothing after the close.',
  ],
  ERR_KUBELOOM_REQUEUE: [
    ['thrown'],
    'The process function of a FIFO asks for its item again.',
    'Throw it inside a process function only; the queue catches it.',
  ],
  ERR_KUBELOOM_TRANSACTION: [
    ['thrown'],
    'Some writes of a transaction on a store were left out; `transaction()` returns the error.',
    'Correct the writes that are not in `successfulIndices`: `errors` has the reasons.',
  ],
  ERR_KUBELOOM_CLIENT_NODE: [
    ['thrown'],
    '@kubernetes/client-node is not installed, or this Node cannot load it.',
    'Install the version that the message names. Informers need it only for users with the auth provider oidc.',
  ],
  ERR_KUBELOOM_NO_MODEL: [
    ['thrown'],
    'client-node has no model for the kind, or the object does not have the shape of its model.',
    'Write the object in its JSON form with the CustomObjectsApi.',
  ],
  ERR_KUBELOOM_UNKNOWN_FIELD: [
    ['thrown'],
    'The model of client-node would lose fields of the object.',
    "Patch the object, update client-node, or pass `{ onUnknownField: 'ignore' }`.",
  ],
} as const;
