/** Answers of several nodes, of which none is waited for long. */
import { RpcFailed } from './jsonRpc.ts';
import type { Ticker } from './ticker.ts';

/** How long others are waited for after the first answer, where what they say may only add to it. */
const others_ms = 1_000;

/** What has come of all, or a little after the first answer. @throws what is no RpcFailed */
export function inTime<T>(asked: readonly Promise<T>[], { after }: Ticker) {
  const answers: T[] = [];
  const failures: RpcFailed[] = [];
  return new Promise<{ answers: readonly T[]; failures: readonly RpcFailed[] }>((resolve, reject) => {
    const end = () => resolve({ answers, failures });
    let callOff: (() => void) | undefined;
    const told = () => {
      if (answers.length + failures.length < asked.length) return;
      callOff?.();
      end();
    };
    for (const each of asked) {
      each
        .then(
          (answer) => {
            answers.push(answer);
            callOff ??= after(others_ms, end);
          },
          (error: unknown) => (error instanceof RpcFailed ? void failures.push(error) : reject(error)),
        )
        .then(told);
    }
  });
}
