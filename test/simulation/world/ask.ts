/** Callers of the service: they ask again until they are answered, and what they ask may so happen more than once. */
import { runIn } from '../kernel/process.ts';
import { theRun } from '../kernel/run.ts';
import type { Api, Instance } from './service.ts';

const pause_ms = 1_500;
/** The caller's own time limit: what he asked may still happen, and he asks again. */
const answer_ms = 10_000;

/**
 * Asks an instance that is up, whichever.
 * @param name in the trace @param heard whether that was an answer; with another he asks again
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
