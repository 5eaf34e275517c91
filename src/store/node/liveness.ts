import type { ChildProcess } from 'node:child_process';

const ask_ms = 500;

/**
 * Asks a child over its channel whether it is there, and calls `silent` once when so many questions in a row had no answer.
 * Questions are counted, not time: a parent that stood still itself has asked none.
 * @param silence_ms how long a child may be busy with something else
 * @returns how to stop watching
 */
export function watchLiveness(child: ChildProcess, silence_ms: number, silent: () => void): () => void {
  const most = Math.ceil(silence_ms / ask_ms);
  let unanswered = 0;
  const hear = (): void => {
    unanswered = 0;
  };
  const timer = setInterval(() => {
    if (unanswered >= most) {
      stop();
      silent();
    } else if (child.connected) {
      unanswered++;
      child.send({ kind: 'areYouThere' }, () => {});
    }
  }, ask_ms);
  function stop(): void {
    clearInterval(timer);
    child.off('message', hear);
  }
  child.on('message', hear);
  child.once('exit', stop);
  return stop;
}
