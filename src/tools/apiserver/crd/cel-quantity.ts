/** Operations of rules on quantities. */

import { Quantity, quantityFault, quantityOf } from '../store/quantity.ts';
import { CelError } from './cel-values.ts';

const NANOS = 1_000_000_000n;

/** @throws CelError for a text that is no quantity */
export function parsedQuantity(text: string): Quantity {
  const quantity = quantityOf(text);
  if (quantity === undefined) throw new CelError(quantityFault(text));
  return quantity;
}

export function wholeOf({ nanos }: Quantity): bigint | undefined {
  return nanos % NANOS === 0n ? nanos / NANOS : undefined;
}

export function plus({ nanos }: Quantity, other: Quantity | bigint, sign: 1n | -1n): Quantity {
  return new Quantity(nanos + sign * (typeof other === 'bigint' ? other * NANOS : other.nanos));
}
