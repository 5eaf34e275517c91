/** Replaces node:timers/promises: waits in simulated time. */
const wait = <T = void>(wait_ms = 0, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    if (signal?.aborted) return reject(new DOMException('The operation was aborted', 'AbortError'));
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve(value as T);
    }, wait_ms);
    signal?.addEventListener('abort', aborted, { once: true });
  });

export { wait as setTimeout };
