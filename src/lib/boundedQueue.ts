/** Returns a function that runs work, `running` at a time, while at most `waiting` more wait. It returns undefined for work beyond that. */
export function createBoundedQueue(
  running: number,
  waiting: number,
): <T>(work: () => Promise<T>) => Promise<T> | undefined {
  let admitted = 0;
  const queue: (() => void)[] = [];
  const turn = (): Promise<void> => {
    admitted += 1;
    return admitted <= running ? Promise.resolve() : new Promise((resolve) => queue.push(resolve));
  };
  return (work) => {
    if (admitted >= running + waiting) return undefined;
    return turn()
      .then(work)
      .finally(() => {
        admitted -= 1;
        queue.shift()?.();
      });
  };
}
