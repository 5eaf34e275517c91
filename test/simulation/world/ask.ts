/** Callers of the service: they repeat requests until an answer arrives, so a request may be carried out more than once. */
import { runIn } from '../kernel/process.ts';
import { theRun } from '../kernel/run.ts';
import type { Api, Instance } from './service.ts';

const pause_ms = 1_500;
/** Timeout of the caller: the request may still be carried out, and is repeated. */
const answer_ms = 10_000;

/**
 * Calls any running instance.
 * @param name in the trace @param heard returns true if the result is an answer; otherwise it is repeated
 */
export function askUntilAnswered<T>(
  instances: readonly Instance[],
  name: string,
  call: (api: Api) => Promise<T>,
  heard: (answer: T) => boolean,
): void {
  const { agenda, note, random } = theRun();
  const again = (): void => {
    agenda.after(pause_ms, ask);
  };

  function ask(): void {
    const [first, ...others] = instances.flatMap((instance) => instance.api() ?? []);
    if (!first) {
      again();
      return;
    }
    const { process, api } = random.pick([first, ...others]);
    let answered = false;
    agenda.after(answer_ms, () => {
      if (!answered) ask();
      answered = true;
    });
    runIn(process, () => {
      call(api).then(
        (answer) =>
          agenda.after(1, () => {
            if (answered) return;
            answered = true;
            if (!heard(answer)) again();
          }),
        (error: unknown) => {
          note(`${name} is not answered: ${String(error)}`);
          if (!answered) again();
          answered = true;
        },
      );
    });
  }
  ask();
}
