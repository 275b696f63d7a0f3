/**
 * The limit that ends a test that hangs. No verdict depends on it: it is far longer than any test takes on a slow machine.
 */
export const HANG_MS = 120_000;
