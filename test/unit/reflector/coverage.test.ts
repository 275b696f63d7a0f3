/**
 * client-go's reflector, rule by rule: kubeloom's decision about each, and the tests that prove it. The source is
 * `tools/cache/reflector.go`. Rules outside of the reflector (resync, stores, handlers) are proven with those parts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/**
 * A rule, with `same` (as client-go), `better` (the same purpose, without a weakness of client-go) or `differs`, and what
 * the improvement or difference is. Below it: test files, each with a part of a title.
 */
const RULES = `
a list asks for "0" at first, then for the last version seen (same)
  step: begins at resourceVersion 0 with pages of 500
  step: asks for the last seen version without a limit when it is repeated
expired or too large: "" at once, once; a success resets it (same)
  step: asks for the most recent state at once, and only once, when its version is
page size: chosen, 500 for "" and "0", none at a version, 500 once "0" came in pages (same)
  step: always asks for pages of the configured size
  step: continues to ask for pages when "0" came in pages
resourceVersion only on the first page (same)
  step: reads page after page with only the limit and the token
an expired continue token: everything at once at the version of the first page (same)
  step: reads everything at once at its first version when its continue token has expired
a page that repeats its own token (better: client-go would list without end)
  step: is abandoned when a page contains its own continue token
too large a version in three encodings (same)
  ../kube/status: is recognised in exactly its three encodings
expired is 410 or the reason Expired; 429 counts whatever its reason (same)
  ../kube/status: every answer that a client can handle has its own code, by number and by reason
  ../kube/status: 429 is too many requests for any reason
a Table is no list (same)
  reflector: does not take a list that is
a stop ends a list at once (better: no request or timer remains)
  step: detaches the informer
  life: stop closes the request, detaches the informer and posts it
items are stored in the order of the list (better: also in a streaming list, where client-go’s order is random)
  reflector: become records in the order of the response
  streaming-list: delivers its objects as items, ends with the bookmark and continues as the watch
timeout random in [min, 2 min), five minutes by default (same)
  reflector: asks for a random time from the minimum to just below the maximum
  ../informer/watch-options: a watch lasts from five to ten minutes
a minimum below five minutes (better: refused with a code, where client-go ignores it silently)
  ../informer/watch-options: a minimum below five minutes is refused instead of ignored
closed by the server: resumed at once (same)
  step: resumes at once from the last version when the server closes it
very short: shorter than a second and without an event (same)
  step: that ends within a second without an event is an error and leads to a list
  step: that ends within a second after an event, or after a second without one, is resumed
refused connection and 429 when it is opened, 429 as an event: backoff, no list (better: also after every attempt without an answer, and for 5xx with Retry-After)
  step: waits and resumes, without a list, after
  refusals: delays the watch by that time, which resumes without a list
Retry-After in seconds or as a date (better: client-go reads seconds only)
  refusals: delays the watch by that time, which resumes without a list
  ../http/error-body: a date is compared with the date of the answer, not with our clock
internal errors as events: at once within the retry duration (same)
  step-failures: is retried at once with the same watch, up to the end of the retry duration
  ../base/backoff: every error within the duration since the first is retried
  step-failures: leads to a list after a backoff by default
  refusals: of an internal error is retried with the same watch at once
  refusals: with code 500 but the reason
an object that the server could not read: list (same)
  refusals: about an object that could not be read leads to a list
expired, as an answer or an event: backoff, list at the last version (better: it is reported; in client-go an event’s error reaches no handler)
  step: leads to a list at the last version when that version has expired, in both forms
any other error: report, backoff, list (same)
  step: retries without end whatever the server answers, more and more slowly
events of another type: skipped, not counted, no version taken from them (same)
  bad-input: an object of another version of the kind is reported and skipped, and does not count
  bad-input: a custom resource of kind Table is an ordinary object
  bad-input: a flood of wrong objects does not cause a flood of messages
unknown types: reported, counted, and their version taken (same)
  bad-input: an event of an unknown type is reported, counts, and moves the position
an object without a name, a malformed line (better: skipped without taking its version; read again from the last good position)
  bad-input: an object without a name is reported and skipped, and the position does not move
  step: is resumed at once after a malformed event
the version of synthetic ADDED events is held back (same)
  reflector: holds the resourceVersion back during the synthetic events of a watch without a version
bookmarks move the version (same)
  disorder: ignores an older bookmark, which is reported and does not reach the cache
tried first with every new list; never at "0"; opt-out (same)
  step: comes first, without a version, and its stream continues as the watch
  step: asks for the last seen version when it is repeated
  step: begins at resourceVersion 0 with pages of 500
request: sendInitialEvents, NotOlderThan, bookmarks, timeout (same)
  streaming-list: delivers its objects as items, ends with the bookmark and continues as the watch
the end annotation must be "true" (same)
  streaming-list: does not end at another value of the annotation
no end bookmark (better: a list after 30 s without an event or 300 s in all, where client-go keeps waiting and warns)
  streaming-list: falls back to a list when a quiet server ignores the request
  streaming-list: falls back to a list when a busy server ignores the request
cut off before its end: repeated at once; very short: list (better: cut off twice in a row: list, no endless loop)
  step: is aborted and repeated at once when it is cut off, and the second time replaced by a list
  step: falls back to a list when the stream is closed at once without an event
refused connection and 429: backoff, streamed again (better: a stop ends the wait; 5xx with Retry-After as well)
  step: waits and is repeated after
  life: stop ends a backoff
  refusals: delays the streaming list by that time, which is not replaced by a list
expired or too large: "" at once (same)
  step: asks for the most recent state once when its version is
any other error: one list (same)
  step: falls back to one list when the server refuses it
  step-failures: in a streaming list leads to a list at once
backoff 0.8 s doubled up to 30 s, jitter 1 (same)
  ../base/backoff: doubles from 800 ms up to 30 s
  ../base/backoff: adds jitter of up to the same length
the backoff starts over (better: after two healthy minutes; client-go’s starts over in the middle of an outage)
  step: starts over with short delays only after two healthy minutes
  ../base/backoff: stays at its maximum during an outage of days
clock and random numbers are injected (better: client-go’s outer loop takes the real clock)
  life: stop ends a backoff
  reflector: asks for a random time from the minimum to just below the maximum
everything ends with a stop (better: no request, timer or connection is left)
  life: shutdown leaves no request, timer or transport and posts closed at the end
  overflow: does not prevent the stop of an informer
dead connections are detected (better: by our own watchdog; client-go leaves it to the transport)
  life: closes a connection without an answer: its handshake hangs
  life: closes a watch that has gone silent in the middle, and loses nothing
  disorder: of a server that has sent a bookmark is detected when the next bookmarks are missing
  ../http/http1-connections: a TLS handshake that hangs fails at the connect timeout
  ../http/http: a server that does not answer in time is a timeout
token files and certificates are read again (better: for every request; client-go reads token files once a minute)
  ../http/credentials-renewal: a token file is read again for every request
  ../http/credentials-renewal: client certificate, key and CA are read again for every request
plugins run when their credentials have expired, not for every request (same)
  ../http/credentials-renewal: a plugin that names no expiry runs once, not for every request
  ../http/credentials-renewal: a plugin runs again when its credentials have expired
401 renews credentials (better: and the request is repeated at once, in a watch without a list; a second one is reported)
  step-failures: are renewed once and the list is repeated at once
  step-failures: are reported when the new ones are refused too
  step-failures: of a watch are renewed, and it resumes without a list
  ../http/credentials-renewal: once for all informers that were refused
  ../http/renewed-credentials: a refused token is renewed once without an error
a request for credentials is never answered (better: a failure after 90 s)
  life: of the main thread when it is asked for credentials is a failure, and they are requested again
`;

const RULE = /^(.+) \((same|better|differs)(?:: (.+))?\)((?:\n {2}.+)+)$/gm;

function source(file: string): string {
  return readFileSync(new URL(`${file}.test.js`, import.meta.url), 'utf8');
}

test('every line of the table is a rule or a test of one', () => {
  assert.equal(RULES.replaceAll(RULE, '').trim(), '');
});

for (const [, rule, verdict, note, tests = ''] of RULES.matchAll(RULE)) {
  test(`${rule}: ${verdict}, and tested`, () => {
    assert.equal(note !== undefined, verdict !== 'same', 'what is not the same is explained');
    for (const line of tests.trim().split('\n  ')) {
      const [file = '', title = ''] = line.split(/: (.*)/);
      assert.ok(title !== '' && source(file).includes(title), line);
    }
  });
}
