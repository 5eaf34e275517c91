import { Unavailable } from '../../commands/ports.ts';

/** Settles as `work` does, or throws Unavailable after `limit_ms`; what comes later is ignored. */
export async function within<T>(work: Promise<T>, limit_ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable(`${what} took longer than ${limit_ms} ms`)), limit_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface Reading<T> extends AsyncIterable<T> {
  on(event: 'data', listener: (item: T) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  cancel(): Promise<void>;
}

/** All items of a read whose length its request bounds. */
export async function collect<T>(reading: Reading<T>, limit_ms: number, what: string): Promise<readonly T[]> {
  const items: T[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    reading.on('data', (item) => items.push(item));
    reading.on('error', reject);
    reading.on('end', resolve);
  });
  try {
    await within(ended, limit_ms, what);
  } catch (error) {
    if (error instanceof Unavailable) await reading.cancel();
    throw error;
  }
  return items;
}
