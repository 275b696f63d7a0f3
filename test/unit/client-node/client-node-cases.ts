/** The behaviours that client-node's own tests of its cache and informer check, and the scenario that compares each. */
export const CASES: readonly (readonly [behaviour: string, scenario: string])[] = [
  ['on() refuses an unknown verb', 'off() ignores what is not registered, and an unknown verb is refused'],
  ['list() and get() follow list and events', 'objects are found by name and namespace'],
  ['a relist removes what is gone', 'a list without a namespace empties it'],
  ['events call the callbacks of their verbs', 'changes are delivered in their order'],
  ['versions advance with events', 'the first list is delivered before start() resolves, and cached'],
  ['versions advance with bookmarks', 'a bookmark moves the version and calls no callback'],
  [
    'change is all three verbs',
    'callbacks are called in the order of their registration, as often as they were registered',
  ],
  [
    'several callbacks of one verb are called',
    'callbacks are called in the order of their registration, as often as they were registered',
  ],
  [
    'the first list adds, and the next watch does not repeat it',
    'a watch that the server ends is continued without a list',
  ],
  [
    'a list after 410 updates and deletes',
    'an ERROR event for an expired version leads to a list, whose difference is delivered',
  ],
  ['namespaces are separate', 'objects are found by name and namespace'],
  ['objects without a namespace are found', 'cluster-scoped objects are found without a namespace'],
  [
    'the deletion of an unknown object changes nothing',
    'an event decides by the cache whether it is an addition: its type does not',
  ],
  [
    'a list deletes exactly the missing objects',
    'an ERROR event for an expired version leads to a list, whose difference is delivered',
  ],
  [
    'a removed callback is not called',
    'callbacks are called in the order of their registration, as often as they were registered',
  ],
  ['off(change) removes all three', 'off(change) removes the callback from all three verbs'],
  ['off() refuses an unknown verb', 'off() ignores what is not registered, and an unknown verb is refused'],
  [
    'off() of an unknown callback does nothing',
    'off() ignores what is not registered, and an unknown verb is refused',
  ],
  ['a callback may remove itself', 'callbacks may remove and add callbacks'],
  ['start() resolves with a filled cache', 'the first list is delivered before start() resolves, and cached'],
  [
    'one version is delivered once',
    'an event decides by the cache whether it is an addition: its type does not',
  ],
  ['nothing runs between stop() and start()', 'stop() ends the events and keeps the objects'],
  ['an error ends the watch', 'an error without a restart'],
  ['a restart continues at the last version', 'the requests of a start after stop()'],
  [
    'a restart lists when its version has expired',
    'a start after stop() whose version has expired lists, without an error',
  ],
  ['410 as a status lists', 'a watch refused with 410 leads to a list, whose difference is delivered'],
  [
    '410 as an event lists',
    'an ERROR event for an expired version leads to a list, whose difference is delivered',
  ],
  ['selectors are sent', 'the watch selects by label and field'],
  ['connect is called at the start', 'the first list is delivered before start() resolves, and cached'],
  [
    'connect is called by a start after an error',
    'a cut connection is an error, and the program that starts again misses nothing',
  ],
  [
    'an error of the first list is reported',
    'a refused list is an error, and the program that starts again receives the list',
  ],
];
