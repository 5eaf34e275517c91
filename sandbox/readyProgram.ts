/** Counterpart of startProgram.ts: a program of the sandbox reports that it is ready, and knows when to end. */
export interface ReadyProgram {
  /** Sent to the parent. */
  readonly facts: object;
  /** Printed for a person who started it in a terminal. Default: nothing. */
  readonly text?: string;
  /** True if it continues after its parent has ended. */
  readonly detached: boolean;
  stop(): Promise<void>;
}

/** Ends the process on SIGINT and SIGTERM and, unless it is detached, with the process that started it. */
export function readyProgram({ facts, text, detached, stop }: ReadyProgram): void {
  if (process.send) process.send(facts);
  else if (text !== undefined) console.log(text);
  const end = () => void stop().then(() => process.exit(0));
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  if (process.send && !detached) process.on('disconnect', end);
}
