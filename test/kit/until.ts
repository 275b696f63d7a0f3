/** A wait for a condition that no event announces. */

/** Resolves when the condition holds. It lets other threads and processes work between two looks. */
export async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 1));
}
