/** The detection of silence: in time and not too early. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Watchdog } from '../../../src/reflector/watchdog.ts';
import { FakeClock } from './fake-clock.ts';

describe('Watchdog', () => {
  it('fires once the limit has passed without a byte', () => {
    const clock = new FakeClock();
    let barks = 0;
    const dog = new Watchdog(clock, 1000, () => barks++);
    clock.advance(900);
    dog.touch();
    clock.advance(999);
    assert.equal(barks, 0);
    clock.advance(1);
    assert.equal(barks, 1);
    assert.equal(clock.pending, 0);
  });

  it('does not count the time of a pause', () => {
    const clock = new FakeClock();
    let barks = 0;
    const dog = new Watchdog(clock, 1000, () => barks++);
    clock.advance(900);
    dog.pause();
    clock.advance(60_000);
    dog.resume();
    clock.advance(999);
    assert.equal(barks, 0);
    clock.advance(1);
    assert.equal(barks, 1);
  });

  it('leaves no timer behind when it is stopped', () => {
    const clock = new FakeClock();
    const dog = new Watchdog(clock, 1000, () => assert.fail('stopped dogs do not bark'));
    clock.advance(500);
    dog.stop();
    clock.advance(10_000);
    assert.equal(clock.pending, 0);
  });
});
