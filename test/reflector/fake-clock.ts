/** The kit's: what we use is what users get. */
export { FakeClock } from '../../src/testing/fake-clock.ts';
