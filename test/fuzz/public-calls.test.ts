/** Wrong types in every place of every public call: an error with a code that says what is wrong, or no error. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageOf } from '../../src/base/errors.ts';
import { KubeloomError } from '../../src/index.ts';
import { HOSTILE_VALUES, HostileError } from './hostile.ts';
import { CALLS, ENTRIES, NOT_CALLED } from './public-calls.ts';

type Call = (...args: readonly unknown[]) => unknown;

const isFunction = (value: unknown): value is Call => typeof value === 'function';
const isClass = (value: Call): boolean => Function.prototype.toString.call(value).startsWith('class');

/** The arguments with a hostile value in each place in turn: an argument, or a member of a plain object. */
function* wrongArguments(
  args: () => readonly unknown[],
): Generator<readonly [place: string, args: unknown[]]> {
  for (const [position, usual] of args().entries()) {
    for (const hostile of HOSTILE_VALUES) yield [`${position}`, args().with(position, hostile())];
    if (!isPlainObject(usual)) continue;
    for (const name of Object.keys(usual)) {
      for (const hostile of HOSTILE_VALUES) {
        const whole = { ...(args()[position] as object), [name]: hostile() };
        yield [`${position}.${name}`, args().with(position, whole)];
      }
    }
  }
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns whether a function or class among the hostile values threw it: it passes through the call. */
function isTheirs(error: unknown): boolean {
  return error instanceof HostileError || messageOf(error).startsWith('Class constructor HostileError');
}

async function close(made: unknown): Promise<void> {
  const closing = Object(made) as {
    [Symbol.asyncDispose]?: () => unknown;
    close?: () => unknown;
    stop?: () => unknown;
  };
  await (closing[Symbol.asyncDispose]?.() ?? closing.close?.() ?? closing.stop?.());
}

/** @returns a complaint, if the call fails without a code */
async function complaintOf(call: Call, place: string, args: readonly unknown[]): Promise<string[]> {
  try {
    const made = isClass(call) ? (Reflect.construct(call, args) as unknown) : await call(...args);
    await close(made);
    return [];
  } catch (error) {
    if (isTheirs(error) || (error instanceof KubeloomError && error.code !== 'ERR_KUBELOOM_ASSERTION'))
      return [];
    const text =
      error instanceof Error ? String(error.stack).split('\n').slice(0, 3).join(' ') : String(error);
    return [`argument ${place}: ${text}`];
  }
}

test('every public function and constructor has a call here, or a reason', () => {
  const names = Object.entries(ENTRIES).flatMap(([entry, exported]) =>
    Object.entries(exported).flatMap(([name, value]) =>
      isFunction(value) && !(name in NOT_CALLED) ? [`${entry}.${name}`] : [],
    ),
  );
  assert.deepEqual(Object.keys(CALLS).toSorted(), names.toSorted());
});

describe('wrong types are refused with a code by', () => {
  for (const [name, args] of Object.entries(CALLS)) {
    test(name, async () => {
      const [entry = '', member = ''] = name.split('.');
      const call = ENTRIES[entry]?.[member] as Call;
      const complaints: string[] = [];
      for (const [place, wrong] of wrongArguments(args))
        complaints.push(...(await complaintOf(call, place, wrong)));
      assert.deepEqual([...new Set(complaints)], []);
    });
  }
});
