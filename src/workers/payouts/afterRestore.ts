/** After the log was restored from a backup, nothing is signed on a chain before its payouts are paused in the log. */

/**
 * @param toPause whether the log was restored and they are not paused yet
 * @param pause crash behind it: they are paused once more, which changes nothing
 * @returns asked before transfers are looked for; throws while it cannot be known or done
 */
export function pauseAfterRestore({
  toPause,
  pause,
  paused,
}: {
  readonly toPause: () => Promise<boolean>;
  readonly pause: () => Promise<void>;
  readonly paused: () => Promise<unknown>;
}): () => Promise<void> {
  // A log is restored while no service runs: asked once.
  let isDone = false;
  return async () => {
    if (isDone) return;
    if (await toPause()) {
      await pause();
      await paused();
    }
    isDone = true;
  };
}
