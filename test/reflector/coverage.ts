/**
 * client-go's reflector, rule by rule: what kubeloom does about each and which test proves it. The source is
 * `tools/cache/reflector.go`; `coverage.test.ts` fails when a named test is gone. Rules of what surrounds the
 * reflector (resync, stores, handlers) are proven where those are.
 */

export type Verdict =
  /** As client-go. */
  | 'same'
  /** The same purpose, without a weakness. */
  | 'better'
  /** Decided otherwise. */
  | 'differs';

export interface Rule {
  readonly rule: string;
  readonly verdict: Verdict;
  /** What is better or different. */
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
const CONSISTENCY = 'reflector/consistency.test';
const STATUS = 'transport/status.test';
const RENEWAL = 'transport/credentials-renewal.test';

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
    rule: 'expired or too large: "" at once, once; success forgets it',
    verdict: 'same',
    tests: [[STEP, 'asks for the most recent state at once, and only once, when its version is']],
  },
  {
    rule: 'page size: chosen, 500 for "" and "0", none at a version, 500 once "0" came in pages',
    verdict: 'same',
    tests: [
      [STEP, 'always asks for pages of the size that the informer wants'],
      [STEP, 'keeps asking for pages when "0" came back in pages'],
    ],
  },
  {
    rule: 'resourceVersion only on the first page',
    verdict: 'same',
    tests: [[STEP, 'reads page after page with the limit and the token only']],
  },
  {
    rule: 'a continue token that has expired: everything at once at the version that was wanted',
    verdict: 'same',
    tests: [[STEP, 'reads everything at once at the version it wanted when its continue token has expired']],
  },
  {
    rule: 'a page that repeats its own token',
    verdict: 'better',
    note: 'client-go would list for ever',
    tests: [[STEP, 'is abandoned when a page comes back with its own continue token']],
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
      [STATUS, 'every answer that a client can act on has its own code, by number and by reason'],
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
    note: 'nothing runs on behind it',
    tests: [
      [STEP, 'detaches the informer'],
      [LIFE, 'stop closes the request, detaches the informer and says so'],
    ],
  },
  {
    rule: 'items are stored in the order of the list',
    verdict: 'better',
    note: 'those of a streaming list too, where client-go’s come in random order',
    tests: [
      [REQUESTS, 'become records in the order of the wire'],
      [STREAMING, 'delivers its objects as items, ends with the bookmark and goes on as the watch'],
    ],
  },
];

const WATCHES: readonly Rule[] = [
  {
    rule: 'timeout random in [min, 2 min), five minutes by default',
    verdict: 'same',
    tests: [
      [REQUESTS, 'asks for a random time from the least to just below the most'],
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
    rule: 'closed by the server: watched on at once',
    verdict: 'same',
    tests: [[STEP, 'is opened again at once from the last version when the server closes it']],
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
    note: 'so for every attempt that got no answer at all, and for 5xx with Retry-After',
    tests: [
      [STEP, 'waits and watches on, without a list, when it meets'],
      [REQUESTS, 'survives a server that is restarted: watches on without a list'],
      [REFUSALS, 'is given that time before a watch, which goes on without a list'],
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
      [FAILURES, 'is answered at once by the same watch, up to the end of the retry duration'],
      ['reflector/retry-window.test', 'within the duration since the first error everything is retried'],
      [FAILURES, 'leads to a list after a backoff, as long as the informer does not say otherwise'],
      [REFUSALS, 'of an internal error is answered by the same watch at once'],
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
      [STEP, 'leads to a list at the last version when that has expired, in both forms'],
      [REQUESTS, 'lists again at its last version when that has expired, said in'],
    ],
  },
  {
    rule: 'any other error: report, backoff, list',
    verdict: 'same',
    tests: [
      [STEP, 'goes on for ever whatever the server answers, ever more slowly'],
      [REQUESTS, 'is not stopped by'],
    ],
  },
  {
    rule: 'events of another type: skipped, not counted, no version taken from them',
    verdict: 'same',
    tests: [
      [BAD_INPUT, 'what is of another version of the kind is reported and skipped, and does not count'],
      [BAD_INPUT, 'a custom resource that is called Table is no table'],
      [BAD_INPUT, 'a flood of wrong objects does not become a flood of messages'],
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
    rule: 'the version of made-up ADDED events is held back',
    verdict: 'same',
    tests: [[REQUESTS, 'holds the resourceVersion back while a watch from nowhere makes its beginning up']],
  },
  {
    rule: 'bookmarks move the version',
    verdict: 'same',
    tests: [[REQUESTS, 'goes on from the last bookmark or event, whichever came last']],
  },
];

const STREAMS: readonly Rule[] = [
  {
    rule: 'tried first with every new list; never at "0"; opt-out',
    verdict: 'same',
    tests: [
      [STEP, 'comes first, without a version, and its stream goes on as the watch'],
      [STEP, 'asks for the last seen version when it is repeated'],
      [STEP, 'begins at resourceVersion 0 with pages of 500'],
    ],
  },
  {
    rule: 'request: sendInitialEvents, NotOlderThan, bookmarks, timeout',
    verdict: 'same',
    tests: [[STREAMING, 'delivers its objects as items, ends with the bookmark and goes on as the watch']],
  },
  {
    rule: 'the end annotation must be "true"',
    verdict: 'same',
    tests: [[STREAMING, 'does not take another value of the annotation for the end']],
  },
  {
    rule: 'no end bookmark',
    verdict: 'better',
    note: 'a list after 30 s without an event or 300 s in all, where client-go waits on and warns',
    tests: [
      [STREAMING, 'falls back to a list when a quiet server ignores what was asked'],
      [STREAMING, 'falls back to a list when a busy server ignores what was asked'],
    ],
  },
  {
    rule: 'cut off before its end: begun anew at once; very short: list',
    verdict: 'better',
    note: 'cut off twice in a row: list, no endless loop',
    tests: [
      [STEP, 'is aborted and begun anew at once when it is cut off, and the second time by a list'],
      [STEP, 'falls back to a list when the stream is closed at once without an event'],
    ],
  },
  {
    rule: 'refused connection and 429: backoff, streamed again',
    verdict: 'better',
    note: 'a stop ends the wait; 5xx with Retry-After as well',
    tests: [
      [STEP, 'waits and is tried again when it meets'],
      [LIFE, 'stop ends a backoff'],
      [REFUSALS, 'is given that time before a streaming list, which is not replaced by a list'],
    ],
  },
  {
    rule: 'expired or too large: "" at once',
    verdict: 'same',
    tests: [[STEP, 'asks for the most recent state once when its version is']],
  },
  {
    rule: 'any other error: a list for this once',
    verdict: 'same',
    tests: [
      [STEP, 'falls back to a list, for this once, when the server refuses it'],
      [FAILURES, 'in a streaming list leads to a list at once'],
    ],
  },
  {
    rule: 'data consistency detector',
    verdict: 'differs',
    note: 'an option; compares uid and version; reports and lists where client-go panics; gives up in time',
    tests: [
      [CONSISTENCY, 'is compared with a list at exactly its version, page by page'],
      [CONSISTENCY, 'that differs is reported with the first keys, and the most recent state is listed'],
      [CONSISTENCY, 'is checked again from its first page when the list fails, with backoff'],
      [CONSISTENCY, 'is given up with a report when the list'],
    ],
  },
];

const AROUND: readonly Rule[] = [
  {
    rule: 'backoff 0.8 s doubled up to 30 s, jitter 1',
    verdict: 'same',
    tests: [
      ['reflector/backoff.test', 'doubles from 800 ms up to 30 s'],
      ['reflector/backoff.test', 'adds up to as much again by chance'],
    ],
  },
  {
    rule: 'the backoff starts over',
    verdict: 'better',
    note: 'after two minutes of health; client-go’s starts over in the middle of an outage',
    tests: [
      [STEP, 'starts over with short delays only after two minutes of health'],
      ['reflector/backoff.test', 'stays at its maximum during an outage of days'],
    ],
  },
  {
    rule: 'clock and chance are injected, everywhere',
    verdict: 'better',
    note: 'client-go’s outer loop takes the real clock',
    tests: [
      [LIFE, 'stop ends a backoff'],
      [REQUESTS, 'asks for a random time from the least to just below the most'],
    ],
  },
  {
    rule: 'everything ends with a stop',
    verdict: 'better',
    note: 'no request, timer or connection is left',
    tests: [
      [LIFE, 'shutdown leaves no request, timer or transport and says closed at last'],
      [CONSISTENCY, 'leaves no request and no timer behind when the informer stops'],
      ['reflector/overflow.test', 'does not keep an informer from being stopped'],
    ],
  },
  {
    rule: 'connections that have died are found',
    verdict: 'better',
    note: 'by our own watchdog; client-go leaves it to the transport',
    tests: [
      [LIFE, 'closes a connection that was never made: a handshake that hangs'],
      [LIFE, 'closes a watch that has gone silent in the middle, and loses nothing'],
      [LIFE, 'finds a half-open watch also after its connection brought bookmarks for hours'],
      ['transport/hung.test', 'a TLS handshake that hangs is given up after the time for connecting'],
      ['transport/hung.test', 'a server that accepts and never answers is given up'],
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
      [RENEWAL, 'a plugin runs again when what it gave has expired'],
    ],
  },
  {
    rule: '401 renews credentials',
    verdict: 'better',
    note: 'and the request is repeated at once, in a watch without a list; a second one is reported',
    tests: [
      [FAILURES, 'are renewed once and the list is asked for again at once'],
      [FAILURES, 'are reported and waited for when the new ones are refused too'],
      [FAILURES, 'of a watch are renewed, and it goes on without a list'],
      [RENEWAL, 'once for all informers that were refused'],
      ['reflector/renewed-credentials.test', 'a refused token is renewed once without an error'],
    ],
  },
  {
    rule: 'whoever is asked for credentials never answers',
    verdict: 'better',
    note: 'a failure after 90 s',
    tests: [[LIFE, 'of whoever is asked for credentials is a failure, and they are asked for again']],
  },
];

export const RULES: readonly Rule[] = [...LISTS, ...WATCHES, ...STREAMS, ...AROUND];
