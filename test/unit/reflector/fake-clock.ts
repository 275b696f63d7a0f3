/** The fake clock of the public test kit. */
export { FakeClock } from '../../../src/apiserver/testing/fake-clock.ts';
