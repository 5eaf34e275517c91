/** What tools of the operator share: how they end, and how they tell what was decided. */
import { InvalidArgumentError } from 'commander';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { allowSlowConnects } from '../src/lib/connectAttempts.ts';
import { print, printFailure } from './print.ts';

/** How every tool of the operator ends: its last words are what went wrong, and its exit code says that it did. */
export async function runProgram(work: () => Promise<unknown>): Promise<void> {
  allowSlowConnects();
  try {
    await work();
  } catch (error) {
    printFailure(error);
    process.exitCode ??= 1;
  }
}

/** Says a decision's outcome. @throws Error with the refusal's code and words */
export function tell(outcome: { readonly appended: number } | Refusal, already = 'It was so already.'): void {
  if (isRefusal(outcome)) throw refusalError(outcome);
  print(outcome.appended > 0 ? 'Done.' : already);
}

export const refusalError = ({ refused, message }: Refusal): Error => new Error(`${refused}: ${message}`);

/** Of an option: why an operator decides so, for whoever asks later. */
export function reasonOf(text: string): string {
  if (text.length === 0 || text.length > 400) throw new InvalidArgumentError('say it in 1 to 400 characters.');
  return text;
}

/** @param message what Ctrl-C leaves behind and what to do then. @returns aborts with it at Ctrl-C */
export function untilInterrupted(message: string): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error(message)));
  return stop.signal;
}
