import { Unavailable } from '../../commands/ports.ts';
import { Silent } from './failures.ts';

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
    async answered(work, limit_ms, what) {
      const silence = Promise.withResolvers<never>();
      begin(silence.reject);
      try {
        return await within(Promise.race([work, silence.promise]), limit_ms, what);
      } finally {
        end(silence.reject);
      }
    },
    heard() {
      unheard = 0;
    },
  };
}
