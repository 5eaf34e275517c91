import { Worker } from 'node:worker_threads';
import { busyExpressions, handlerThrew, slowExpression } from './messages.ts';
import { expressionMost_ms, expressionsMost } from './room.ts';

/** A foreign regular expression. */
export interface Expression {
  /** Returns which of the texts match. @throws ServiceError after a timeout */
  matches(texts: readonly string[]): Promise<readonly boolean[]>;
  /** Resolves when its thread has ended. */
  end(): Promise<unknown>;
}

/** Starts the thread of an expression. @throws ServiceError for an invalid one, and if too many run */
export type Expressions = (source: string) => Expression;

const program = new URL('./expressionThread.ts', import.meta.url);
const threadMemory = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8, codeRangeSizeMb: 8, stackSizeMb: 2 };
const defaults = { most: expressionsMost, page_ms: expressionMost_ms };

/**
 * An expression may never finish: each call's runs in a separate thread, which is ended if one page of events takes too long. Nobody else
 * waits for it.
 */
export function createExpressions(limits: Partial<typeof defaults> = {}): Expressions {
  const { most, page_ms } = { ...defaults, ...limits };
  let running = 0;

  return (source) => {
    mustBeExpression(source);
    if (running >= most) throw busyExpressions(most);
    running++;
    const thread = new Worker(program, { workerData: source, resourceLimits: threadMemory });
    const ended = new Promise<never>((_, reject) => {
      thread.on('error', () => reject(slowExpression(page_ms)));
      thread.on('exit', () => {
        running--;
        reject(slowExpression(page_ms));
      });
    });
    ended.catch(() => {});
    const answer = <T>(): Promise<T> =>
      Promise.race([ended, new Promise<T>((resolve) => thread.once('message', resolve))]);
    const ready = answer<'ready'>();
    ready.catch(() => {});

    return {
      async matches(texts) {
        await ready;
        const timer = setTimeout(() => thread.terminate(), page_ms);
        try {
          const found = answer<readonly boolean[]>();
          thread.postMessage(texts);
          return await found;
        } finally {
          clearTimeout(timer);
        }
      },
      end: () => thread.terminate(),
    };
  };
}

/** Checks its syntax without running it. */
function mustBeExpression(source: string): void {
  try {
    new RegExp(source);
  } catch {
    throw handlerThrew();
  }
}
