/** Errors of what the server or a ListerWatcher sends: lists, events and objects. */
export const OBJECT_ERRORS = {
  ERR_KUBELOOM_MALFORMED_RESPONSE: [
    ['thrown', 'onError', 'health'],
    'The answer is not what an apiserver sends: no list, no JSON, too long, or the same page again.',
    'Check that the address is that of an apiserver and the path that of a resource. Informers try again.',
  ],
  ERR_KUBELOOM_TRUNCATED: [
    ['thrown', 'onError', 'health'],
    'A list or an event ended before it was complete.',
    'Look for a proxy that limits the size or the duration of answers. Informers try again.',
  ],
  ERR_KUBELOOM_MALFORMED_EVENT: [
    ['onError', 'health'],
    'An event of a watch cannot be used: it is no JSON, of an unknown type, endless, or has no metadata.',
    'Report it to the operator of the server: the message quotes the event. The others are not affected.',
  ],
  ERR_KUBELOOM_UNEXPECTED_OBJECT: [
    ['thrown', 'onError', 'health'],
    'The server sent an object of another kind, a Table, or a name that is no name. It was skipped.',
    'Check the path of the resource, and the options of the request.',
  ],
  ERR_KUBELOOM_OBJECT_WITHOUT_NAME: [
    ['onError', 'health'],
    'The server sent an object without metadata.name. It was skipped.',
    'Report it to the operator of the server.',
  ],
  ERR_KUBELOOM_NO_RESOURCE_VERSION: [
    ['onError', 'health'],
    'A list or an object has no metadata.resourceVersion. An object was skipped.',
    'Correct the server or the ListerWatcher: an informer needs versions.',
  ],
  ERR_KUBELOOM_OBJECT_TOO_LARGE: [
    ['thrown', 'onError', 'health'],
    'An object is larger than `objectBytesMax`: only its identity is kept, and a read of its content throws. Or a version is.',
    'Raise `objectBytesMax` above the size of the object; for the version of a list `ringBytes`, too.',
  ],
  ERR_KUBELOOM_MALFORMED_OBJECT: [
    ['thrown'],
    'The bytes of a cached object are not the JSON of an object.',
    'Read what was received with `bytes()`, and report it to the operator of the server.',
  ],
  ERR_KUBELOOM_OUT_OF_ORDER: [
    ['onError', 'health'],
    'The server sent an older version after a newer one. It was ignored.',
    'Report it to the operator of the server: its watch cache is at fault.',
  ],
  ERR_KUBELOOM_TIME_TRAVEL: [
    ['onError', 'health'],
    'The server sent an event that is older than the version of the request.',
    'Nothing, if the server was restored from a backup: informers list again.',
  ],
  ERR_KUBELOOM_EXPIRED_LOOP: [
    ['onError', 'health'],
    'The server has refused several watches in a row as too old, each from the version of the latest list.',
    'Check that all replicas of the apiserver see the same etcd.',
  ],
  ERR_KUBELOOM_NO_END_BOOKMARK: [
    ['onError', 'health'],
    'A streaming list did not end in time.',
    'Nothing: the informer lists in pages instead.',
  ],
  ERR_KUBELOOM_VERY_SHORT_WATCH: [
    ['onError', 'health'],
    'The server closed a watch within a second and without an event.',
    'Look for a proxy that closes connections. Informers try again, more and more slowly.',
  ],
  ERR_KUBELOOM_LISTER_WATCHER: [
    ['thrown', 'onError', 'health'],
    'A ListerWatcher threw, or returned no list or no watch.',
    'Correct the function: the `cause` is what it threw.',
  ],
} as const;
