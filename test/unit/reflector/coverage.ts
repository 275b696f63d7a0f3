/**
 * client-go's reflector, rule by rule: kubeloom's decision about each, and the test that proves it. The
 * source is `tools/cache/reflector.go`; `coverage.test.ts` fails when a named test does not exist. Rules
 * outside of the reflector (resync, stores, handlers) are proven with those parts.
 */

export type Verdict =
  /** As client-go. */
  | 'same'
  /** The same purpose, without a weakness of client-go. */
  | 'better'
  /** Decided otherwise. */
  | 'differs';

export interface Rule {
  readonly rule: string;
  readonly verdict: Verdict;
  /** The improvement or the difference. */
  readonly note?: string;
  /** File in `test`, without its ending, and a part of the test's title. */
  readonly tests: readonly (readonly [file: string, title: string])[];
}

const STEP = 'reflector/step.test';
const FAILURES = 'reflector/step-failures.test';
const REFUSALS = 'reflector/refusals.test';
const REQUESTS = 'reflector/reflector.test';
const STREAMING = 'reflector/streaming-list.test';
const BAD_INPUT = 'reflector/bad-input.test';
const LIFE = 'reflector/life.test';
const STATUS = 'reflector/transport/status.test';
const RENEWAL = 'reflector/transport/credentials-renewal.test';

const LISTS: readonly Rule[] = [
  {
    rule: 'a list asks for "0" at first, then for the last version seen',
    verdict: 'same',
    tests: [
      [STEP, 'begins at resourceVersion 0 with pages of 500'],
      [STEP, 'asks for the last seen version without a limit when it is repeated'],
    ],
  },
  {
    rule: 'expired or too large: "" at once, once; a success resets it',
    verdict: 'same',
    tests: [[STEP, 'asks for the most recent state at once, and only once, when its version is']],
  },
  {
    rule: 'page size: chosen, 500 for "" and "0", none at a version, 500 once "0" came in pages',
    verdict: 'same',
    tests: [
      [STEP, 'always asks for pages of the configured size'],
      [STEP, 'continues to ask for pages when "0" came in pages'],
    ],
  },
  {
    rule: 'resourceVersion only on the first page',
    verdict: 'same',
    tests: [[STEP, 'reads page after page with only the limit and the token']],
  },
  {
    rule: 'an expired continue token: everything at once at the version of the first page',
    verdict: 'same',
    tests: [[STEP, 'reads everything at once at its first version when its continue token has expired']],
  },
  {
    rule: 'a page that repeats its own token',
    verdict: 'better',
    note: 'client-go would list without end',
    tests: [[STEP, 'is abandoned when a page contains its own continue token']],
  },
  {
    rule: 'too large a version in three encodings',
    verdict: 'same',
    tests: [[STATUS, 'is recognised in its three encodings, and only there']],
  },
  {
    rule: 'expired is 410 or the reason Expired; 429 counts whatever its reason',
    verdict: 'same',
    tests: [
      [STATUS, 'every answer that a client can handle has its own code, by number and by reason'],
      [STATUS, '429 is too many requests whatever the reason beside it'],
    ],
  },
  {
    rule: 'a Table is no list',
    verdict: 'same',
    tests: [[REQUESTS, 'does not take a list that is']],
  },
  {
    rule: 'a stop ends a list at once',
    verdict: 'better',
    note: 'no request or timer remains',
    tests: [
      [STEP, 'detaches the informer'],
      [LIFE, 'stop closes the request, detaches the informer and posts it'],
    ],
  },
  {
    rule: 'items are stored in the order of the list',
    verdict: 'better',
    note: 'also in a streaming list, where client-go’s order is random',
    tests: [
      [REQUESTS, 'become records in the order of the response'],
      [STREAMING, 'delivers its objects as items, ends with the bookmark and continues as the watch'],
    ],
  },
];

const WATCHES: readonly Rule[] = [
  {
    rule: 'timeout random in [min, 2 min), five minutes by default',
    verdict: 'same',
    tests: [
      [REQUESTS, 'asks for a random time from the minimum to just below the maximum'],
      ['reflector/watch-options.test', 'a watch lasts from five to ten minutes'],
    ],
  },
  {
    rule: 'a minimum below five minutes',
    verdict: 'better',
    note: 'refused with a code, where client-go ignores it silently',
    tests: [['reflector/watch-options.test', 'a minimum below five minutes is refused instead of ignored']],
  },
  {
    rule: 'closed by the server: resumed at once',
    verdict: 'same',
    tests: [[STEP, 'resumes at once from the last version when the server closes it']],
  },
  {
    rule: 'very short: shorter than a second and without an event',
    verdict: 'same',
    tests: [
      [STEP, 'that ends within a second without an event is an error and leads to a list'],
      [STEP, 'that ends within a second after an event, or after a second without one, is resumed'],
    ],
  },
  {
    rule: 'refused connection and 429 when it is opened, 429 as an event: backoff, no list',
    verdict: 'better',
    note: 'also after every attempt without an answer, and for 5xx with Retry-After',
    tests: [
      [STEP, 'waits and resumes, without a list, after'],
      [REQUESTS, 'resumes without a list after a restart of the server'],
      [REFUSALS, 'delays the watch by that time, which resumes without a list'],
    ],
  },
  {
    rule: 'Retry-After in seconds or as a date',
    verdict: 'better',
    note: 'client-go reads seconds only',
    tests: [
      [REQUESTS, 'waits as long as Retry-After says, in an answer and in an event'],
      ['reflector/retry-after.test', 'a date is compared with the date of the answer, not with our clock'],
    ],
  },
  {
    rule: 'internal errors as events: at once within the retry duration',
    verdict: 'same',
    tests: [
      [FAILURES, 'is retried at once with the same watch, up to the end of the retry duration'],
      ['reflector/retry-window.test', 'every error within the duration since the first is retried'],
      [FAILURES, 'leads to a list after a backoff by default'],
      [REFUSALS, 'of an internal error is retried with the same watch at once'],
      [REFUSALS, 'with code 500 but the reason'],
    ],
  },
  {
    rule: 'an object that the server could not read: list',
    verdict: 'same',
    tests: [[REFUSALS, 'about an object that could not be read leads to a list']],
  },
  {
    rule: 'expired, as an answer or an event: backoff, list at the last version',
    verdict: 'better',
    note: 'it is reported; in client-go an event’s error reaches no handler',
    tests: [
      [STEP, 'leads to a list at the last version when that version has expired, in both forms'],
      [REQUESTS, 'lists again at its last version when that has expired, reported in'],
    ],
  },
  {
    rule: 'any other error: report, backoff, list',
    verdict: 'same',
    tests: [
      [STEP, 'retries without end whatever the server answers, more and more slowly'],
      [REQUESTS, 'waits and lists again'],
    ],
  },
  {
    rule: 'events of another type: skipped, not counted, no version taken from them',
    verdict: 'same',
    tests: [
      [BAD_INPUT, 'an object of another version of the kind is reported and skipped, and does not count'],
      [BAD_INPUT, 'a custom resource of kind Table is an ordinary object'],
      [BAD_INPUT, 'a flood of wrong objects does not cause a flood of messages'],
    ],
  },
  {
    rule: 'unknown types: reported, counted, and their version taken',
    verdict: 'same',
    tests: [[BAD_INPUT, 'an event of an unknown type is reported, counts, and moves the position']],
  },
  {
    rule: 'an object without a name, a malformed line',
    verdict: 'better',
    note: 'skipped without taking its version; read again from the last good position',
    tests: [
      [BAD_INPUT, 'an object without a name is reported and skipped, and the position does not move'],
      [BAD_INPUT, 'a malformed line is reported, and reading resumes from the last good version'],
    ],
  },
  {
    rule: 'the version of synthetic ADDED events is held back',
    verdict: 'same',
    tests: [
      [REQUESTS, 'holds the resourceVersion back during the synthetic events of a watch without a version'],
    ],
  },
  {
    rule: 'bookmarks move the version',
    verdict: 'same',
    tests: [[REQUESTS, 'resumes from the last bookmark or event, whichever came last']],
  },
];

const STREAMS: readonly Rule[] = [
  {
    rule: 'tried first with every new list; never at "0"; opt-out',
    verdict: 'same',
    tests: [
      [STEP, 'comes first, without a version, and its stream continues as the watch'],
      [STEP, 'asks for the last seen version when it is repeated'],
      [STEP, 'begins at resourceVersion 0 with pages of 500'],
    ],
  },
  {
    rule: 'request: sendInitialEvents, NotOlderThan, bookmarks, timeout',
    verdict: 'same',
    tests: [[STREAMING, 'delivers its objects as items, ends with the bookmark and continues as the watch']],
  },
  {
    rule: 'the end annotation must be "true"',
    verdict: 'same',
    tests: [[STREAMING, 'does not end at another value of the annotation']],
  },
  {
    rule: 'no end bookmark',
    verdict: 'better',
    note: 'a list after 30 s without an event or 300 s in all, where client-go keeps waiting and warns',
    tests: [
      [STREAMING, 'falls back to a list when a quiet server ignores the request'],
      [STREAMING, 'falls back to a list when a busy server ignores the request'],
    ],
  },
  {
    rule: 'cut off before its end: repeated at once; very short: list',
    verdict: 'better',
    note: 'cut off twice in a row: list, no endless loop',
    tests: [
      [STEP, 'is aborted and repeated at once when it is cut off, and the second time replaced by a list'],
      [STEP, 'falls back to a list when the stream is closed at once without an event'],
    ],
  },
  {
    rule: 'refused connection and 429: backoff, streamed again',
    verdict: 'better',
    note: 'a stop ends the wait; 5xx with Retry-After as well',
    tests: [
      [STEP, 'waits and is repeated after'],
      [LIFE, 'stop ends a backoff'],
      [REFUSALS, 'delays the streaming list by that time, which is not replaced by a list'],
    ],
  },
  {
    rule: 'expired or too large: "" at once',
    verdict: 'same',
    tests: [[STEP, 'asks for the most recent state once when its version is']],
  },
  {
    rule: 'any other error: one list',
    verdict: 'same',
    tests: [
      [STEP, 'falls back to one list when the server refuses it'],
      [FAILURES, 'in a streaming list leads to a list at once'],
    ],
  },
];

const AROUND: readonly Rule[] = [
  {
    rule: 'backoff 0.8 s doubled up to 30 s, jitter 1',
    verdict: 'same',
    tests: [
      ['reflector/backoff.test', 'doubles from 800 ms up to 30 s'],
      ['reflector/backoff.test', 'adds jitter of up to the same length'],
    ],
  },
  {
    rule: 'the backoff starts over',
    verdict: 'better',
    note: 'after two healthy minutes; client-go’s starts over in the middle of an outage',
    tests: [
      [STEP, 'starts over with short delays only after two healthy minutes'],
      ['reflector/backoff.test', 'stays at its maximum during an outage of days'],
    ],
  },
  {
    rule: 'clock and random numbers are injected',
    verdict: 'better',
    note: 'client-go’s outer loop takes the real clock',
    tests: [
      [LIFE, 'stop ends a backoff'],
      [REQUESTS, 'asks for a random time from the minimum to just below the maximum'],
    ],
  },
  {
    rule: 'everything ends with a stop',
    verdict: 'better',
    note: 'no request, timer or connection is left',
    tests: [
      [LIFE, 'shutdown leaves no request, timer or transport and posts closed at the end'],
      ['reflector/overflow.test', 'does not prevent the stop of an informer'],
    ],
  },
  {
    rule: 'dead connections are detected',
    verdict: 'better',
    note: 'by our own watchdog; client-go leaves it to the transport',
    tests: [
      [LIFE, 'closes a connection without an answer: its handshake hangs'],
      [LIFE, 'closes a watch that has gone silent in the middle, and loses nothing'],
      [LIFE, 'finds a half-open watch also after its connection brought bookmarks for hours'],
      ['reflector/transport/hung.test', 'a TLS handshake that hangs fails at the connect timeout'],
      ['reflector/transport/hung.test', 'a server that accepts and never answers fails at'],
    ],
  },
  {
    rule: 'token files and certificates are read again',
    verdict: 'better',
    note: 'for every request; client-go reads token files once a minute',
    tests: [
      [RENEWAL, 'a token file is read again for every request'],
      [RENEWAL, 'client certificate, key and CA are read again for every request'],
    ],
  },
  {
    rule: 'plugins run when their credentials have expired, not for every request',
    verdict: 'same',
    tests: [
      [RENEWAL, 'a plugin that names no expiry runs once, not for every request'],
      [RENEWAL, 'a plugin runs again when its credentials have expired'],
    ],
  },
  {
    rule: '401 renews credentials',
    verdict: 'better',
    note: 'and the request is repeated at once, in a watch without a list; a second one is reported',
    tests: [
      [FAILURES, 'are renewed once and the list is repeated at once'],
      [FAILURES, 'are reported when the new ones are refused too'],
      [FAILURES, 'of a watch are renewed, and it resumes without a list'],
      [RENEWAL, 'once for all informers that were refused'],
      ['reflector/renewed-credentials.test', 'a refused token is renewed once without an error'],
    ],
  },
  {
    rule: 'a request for credentials is never answered',
    verdict: 'better',
    note: 'a failure after 90 s',
    tests: [
      [
        LIFE,
        'of the main thread when it is asked for credentials is a failure, and they are requested again',
      ],
    ],
  },
];

export const RULES: readonly Rule[] = [...LISTS, ...WATCHES, ...STREAMS, ...AROUND];
