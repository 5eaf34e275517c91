/** The other side of startProgram.ts: a program of the sandbox tells that it is ready, and knows when to end. */
export interface ReadyProgram {
  /** Sent to whoever started the program. */
  readonly facts: object;
  /** Printed for a person who started it in a terminal; nothing when left out. */
  readonly text?: string;
  /** Whether it runs on when whoever started it has ended. */
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
