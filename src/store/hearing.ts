import { Unavailable } from '../../commands/ports.ts';
import { Silent } from './failures.ts';

const tooLate = (limit_ms: number, what: string): Unavailable =>
  new Unavailable(`${what} took longer than ${limit_ms} ms`);

/** Settles as `work` does, or throws Unavailable after `limit_ms`; what comes later is ignored. */
export async function within<T>(work: Promise<T>, limit_ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(limit_ms, what)), limit_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Notices a connection that stays and says nothing. HTTP/2's pings tell the same of a process that is stopped, three times later. */
export interface Hearing {
  /** Waits for a call's answer. @throws Silent when nothing at all is heard for long; Unavailable after `limit_ms` */
  answered<T>(work: Promise<T>, limit_ms: number, what: string): Promise<T>;
  /** Tell of whatever comes from the server. */
  heard(): void;
}

const looks = 4;

/**
 * Looks are counted, not time: a process that stood still itself, or was given no time, has looked once.
 * @param silence_ms how long a server may be busy with what it is asked and say nothing to anybody
 * @param silent told once each time, before calls fail: the connection is to be given up
 */
export function createHearing(silence_ms: number, silent: () => void): Hearing {
  const waiting = new Set<(error: Silent) => void>();
  let timer: NodeJS.Timeout | undefined;
  let unheard = 0;

  function look(): void {
    unheard += 1;
    if (unheard < looks) return;
    unheard = 0;
    silent();
    for (const fail of waiting) fail(new Silent(`the event store says nothing for ${silence_ms} ms`));
  }

  function begin(fail: (error: Silent) => void): void {
    if (waiting.size === 0) {
      unheard = 0;
      timer = setInterval(look, silence_ms / looks);
    }
    waiting.add(fail);
  }

  function end(fail: (error: Silent) => void): void {
    waiting.delete(fail);
    if (waiting.size === 0) clearInterval(timer);
  }

  return {
    answered<T>(work: Promise<T>, limit_ms: number, what: string) {
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => fail(tooLate(limit_ms, what)), limit_ms);
        const over = (): void => {
          clearTimeout(timer);
          end(fail);
        };
        const fail = (error: unknown): void => {
          over();
          reject(error);
        };
        begin(fail);
        work.then((answer) => {
          over();
          resolve(answer);
        }, fail);
      });
    },
    heard() {
      unheard = 0;
    },
  };
}
