/**
 * A small model of the wake-up protocol, and a checker that visits every state that any interleaving of its
 * steps can reach. Memory is sequentially consistent, as `Atomics` is.
 *
 * One consumer takes the records that its producers have put into their rings (one tail each) and then waits. A
 * wake-up is lost when all threads have stopped forever: the producers are done, work is there, the consumer
 * sleeps. (A producer with another record could wake it by chance. The caller tries every number of records, so
 * the runs include a producer without another one.)
 */

/** The cycles of the consumer and of every producer; each step is one access to shared memory. */
export interface Protocol {
  readonly consumer: readonly ConsumerStep[];
  readonly producer: readonly ProducerStep[];
}

export type ConsumerStep =
  /** Load the bell: `wait on bell` compares with this value. */
  | 'load bell'
  /** Read the tails, one after another; at the first that moved, take its records and start again. */
  | 'look'
  /** The same, but clear the flag before starting again. */
  | 'look, or parked = 0'
  | 'parked = 1'
  | 'parked = 0'
  | 'wait on bell'
  /** Wait on the last read tail (of a single producer). */
  | 'wait on tail';

export type ProducerStep =
  | 'store tail'
  | 'add to bell'
  | 'load parked'
  /** These three do nothing unless the flag was set when it was loaded. */
  | 'notify bell if parked'
  | 'notify tail if parked'
  | 'clear parked if parked';

/** The protocol of src/shared/ring/bell.ts; bell.test.ts holds the code to it. */
export const BELL_PROTOCOL: Protocol = {
  consumer: ['load bell', 'look', 'parked = 1', 'look, or parked = 0', 'wait on bell', 'parked = 0'],
  producer: ['store tail', 'add to bell', 'load parked', 'notify bell if parked'],
};

/** The obvious protocol, which blocked a prototype: the producer clears the flag, the consumer waits on the tail. */
export const BROKEN_PROTOCOL: Protocol = {
  consumer: ['look', 'parked = 1', 'look', 'wait on tail'],
  producer: ['store tail', 'load parked', 'clear parked if parked', 'notify tail if parked'],
};

export interface CheckResult {
  readonly stateCount: number;
  /** Number of states in which the consumer sleeps: a check without any would prove nothing. */
  readonly asleepCount: number;
  /** The steps that led to a lost wake-up, or undefined when no interleaving loses one. */
  readonly lost: readonly string[] | undefined;
}

interface ProducerState {
  step: number;
  publishesLeft: number;
  sawParked: boolean;
}

interface State {
  readonly tails: number[];
  bell: number;
  parked: number;
  asleepOn: 'nothing' | 'bell' | 'tail';
  readonly producers: ProducerState[];
  /** State of the consumer: its next step, and within a look the next tail. */
  step: number;
  tailIndex: number;
  isClearingParked: boolean;
  bellSeen: number;
  readonly taken: number[];
}

/** One access by one thread: its name, and the state after it. */
interface Move {
  readonly name: string;
  readonly state: State;
}

interface Visit {
  readonly from: string | undefined;
  readonly move: string;
}

/** Visits every reachable state for one consumer and one producer for each number of publishes. */
export function check(protocol: Protocol, publishes: readonly number[]): CheckResult {
  const first = firstState(publishes);
  const visits = new Map<string, Visit>([[JSON.stringify(first), { from: undefined, move: 'start' }]]);
  // Breadth first, so that the first loss found is the shortest. The loop appends to the array that it walks.
  const open: State[] = [first];
  let asleepCount = 0;
  for (const state of open) {
    const key = JSON.stringify(state);
    if (state.asleepOn !== 'nothing') asleepCount++;
    const moves = movesOf(protocol, state);
    const isWorkLeft = state.tails.some((tail, index) => tail !== state.taken[index]);
    if (moves.length === 0 && isWorkLeft) {
      return { stateCount: visits.size, asleepCount, lost: traceTo(visits, key) };
    }
    for (const move of moves) {
      const nextKey = JSON.stringify(move.state);
      if (visits.has(nextKey)) continue;
      visits.set(nextKey, { from: key, move: move.name });
      open.push(move.state);
    }
  }
  return { stateCount: visits.size, asleepCount, lost: undefined };
}

function firstState(publishes: readonly number[]): State {
  return {
    tails: publishes.map(() => 0),
    bell: 0,
    parked: 0,
    asleepOn: 'nothing',
    producers: publishes.map((publishesLeft) => ({ step: 0, publishesLeft, sawParked: false })),
    step: 0,
    tailIndex: 0,
    isClearingParked: false,
    bellSeen: 0,
    taken: publishes.map(() => 0),
  };
}

/** Returns the possible next accesses of all threads that are neither asleep nor done. */
function movesOf(protocol: Protocol, state: State): Move[] {
  const moves: Move[] = [];
  if (state.asleepOn === 'nothing') {
    const next = structuredClone(state);
    moves.push({ name: `consumer: ${consumerMove(protocol, next)}`, state: next });
  }
  for (const [index, producer] of state.producers.entries()) {
    if (producer.publishesLeft === 0) continue;
    const next = structuredClone(state);
    moves.push({ name: `producer ${index}: ${producerMove(protocol, next, index)}`, state: next });
  }
  return moves;
}

function consumerMove(protocol: Protocol, state: State): string {
  if (state.isClearingParked) {
    state.parked = 0;
    state.isClearingParked = false;
    return 'parked = 0';
  }
  const step = protocol.consumer[state.step];
  if (step === 'look' || step === 'look, or parked = 0') return look(protocol, state, step);
  state.step = (state.step + 1) % protocol.consumer.length;
  if (step === 'load bell') state.bellSeen = state.bell;
  if (step === 'parked = 1') state.parked = 1;
  if (step === 'parked = 0') state.parked = 0;
  if (step === 'wait on bell' && state.bell === state.bellSeen) state.asleepOn = 'bell';
  if (step === 'wait on tail' && state.tails[0] === state.taken[0]) state.asleepOn = 'tail';
  return state.asleepOn === 'nothing' ? `${step}` : `${step}: falls asleep`;
}

function look(protocol: Protocol, state: State, step: 'look' | 'look, or parked = 0'): string {
  const index = state.tailIndex;
  const tail = state.tails[index] ?? 0;
  if (tail !== state.taken[index]) {
    state.taken[index] = tail;
    state.isClearingParked = step !== 'look';
    state.tailIndex = 0;
    state.step = 0;
    return `look at ${index}: takes up to ${tail}`;
  }
  state.tailIndex = (index + 1) % state.tails.length;
  if (state.tailIndex === 0) state.step = (state.step + 1) % protocol.consumer.length;
  return `look at ${index}: nothing`;
}

function producerMove(protocol: Protocol, state: State, index: number): string {
  const producer = state.producers[index];
  const step = protocol.producer[producer?.step ?? 0];
  if (!producer || !step) throw new Error('a producer without steps');
  if (step === 'store tail') state.tails[index] = (state.tails[index] ?? 0) + 1;
  if (step === 'add to bell') state.bell++;
  if (step === 'load parked') producer.sawParked = state.parked !== 0;
  if (producer.sawParked) {
    if (step === 'clear parked if parked') state.parked = 0;
    if (step === 'notify bell if parked' && state.asleepOn === 'bell') state.asleepOn = 'nothing';
    if (step === 'notify tail if parked' && state.asleepOn === 'tail') state.asleepOn = 'nothing';
  }
  producer.step++;
  if (producer.step === protocol.producer.length) {
    producer.step = 0;
    producer.sawParked = false;
    producer.publishesLeft--;
  }
  return step;
}

function traceTo(visits: ReadonlyMap<string, Visit>, key: string): string[] {
  const moves: string[] = [];
  for (
    let visit = visits.get(key);
    visit;
    visit = visit.from === undefined ? undefined : visits.get(visit.from)
  ) {
    moves.unshift(visit.move);
  }
  return moves;
}
