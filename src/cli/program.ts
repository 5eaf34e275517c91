/** How every tool of the operator ends: its last words are what went wrong, and its exit code says that it did. */
export async function runProgram(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

/** @param message what Ctrl-C leaves behind and what to do then. @returns aborts with it at Ctrl-C */
export function untilInterrupted(message: string): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error(message)));
  return stop.signal;
}
