/** The single current run of this program, which the service's replaced edges use. */

import type { MessagesOfBurn, RouteFee } from '../../../src/chains/attestations.ts';
import type { PostgresModel } from '../postgres/server.ts';
import type { Values } from '../postgres/statement.ts';
import type { SimulatedLog } from '../store/log.ts';
import type { Agenda } from './agenda.ts';
import type { FaultPlan } from './faults.ts';
import type { Random, SimulatedNode } from './ports.ts';
import { endProcess, never, runIn, runningProcess, type SimulatedProcess } from './process.ts';

/** Fault probabilities of a run. */
export interface Weather {
  /** For each call to the outside: before it is sent, and after its answer has arrived. */
  readonly crash: number;
  /** For each call: its request or its answer is lost. */
  readonly loss: number;
  /** For each repeatable call: it arrives twice. */
  readonly repeat: number;
  /** Maximum usual delay of a message. */
  readonly way_ms: number;
}

/** Receiver of a merchant's webhooks. */
export interface Receiver {
  received(message: { readonly url: string; readonly headers: Readonly<Record<string, string>> }): void;
}

/** A simulated process that answers requests over HTTPS. */
export interface SimulatedServer<Answer = unknown> {
  readonly process: SimulatedProcess | null;
  /** Rejects when its process ends. */
  serve(method: string, path: string, body: string | undefined): Promise<Answer>;
}

/** The attestation service of CCTP. `away`: it does not answer. */
export interface SimulatedAttester {
  messagesOf(domain: number, burnHash: string): MessagesOfBurn | 'away';
  reattest(nonce: string): 'done' | 'away';
  fees(): readonly RouteFee[] | 'away';
}

export interface Run {
  readonly seed: number;
  readonly agenda: Agenda;
  readonly faults: FaultPlan;
  readonly weather: Weather;
  readonly random: Random;
  /** Randomness of the service itself: ids, secrets, pauses. */
  readonly chance: Random;
  /** State that outlives processes. */
  readonly stores: {
    readonly log: SimulatedLog;
    /** The log that a signer of its own keeps. */
    readonly signerLog: SimulatedLog;
    readonly postgres: PostgresModel;
    readonly receiver: Receiver;
  };
  readonly attester: SimulatedAttester;
  /** By host and port. */
  readonly servers: Map<string, SimulatedServer>;
  /** By their URLs. */
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  readonly note: (line: string) => void;
  /** The service calls an operator. */
  readonly alarmed: (reason: string, message: string) => void;
  /** The simulation itself lacks something: the run ends. */
  readonly broken: (error: unknown) => void;
  /** Reports each statement before the model of Postgres runs it. */
  readonly onStatement: (text: string, values: Values, postgres: PostgresModel) => void;
  /** Called after a crash, so that the process is restarted. */
  readonly crashed: (process: SimulatedProcess, at: string) => void;
}

let taking: Run | null = null;

export function theRun(): Run {
  if (taking === null) throw new Error('no simulation is running: the service was loaded outside of one');
  return taking;
}

export function beginRun(run: Run | null): void {
  taking = run;
}

const crashNames = new Map<string, string>();

/** Returns the same text object each time: newly built texts are slow as keys. */
function crashAt(point: string): string {
  const name = crashNames.get(point) ?? `crash.${point}`;
  crashNames.set(point, name);
  return name;
}

const places = new Map<string, ReturnType<typeof namePlaces>>();

function placesOf(port: string): ReturnType<typeof namePlaces> {
  const known = places.get(port) ?? namePlaces(port);
  places.set(port, known);
  return known;
}

const namePlaces = (port: string) => ({
  before: `before.${port}`,
  after: `after.${port}`,
  lostRequest: `lost.request.${port}`,
  lostAnswer: `lost.answer.${port}`,
  repeated: `repeated.${port}`,
});

/** Passes a crash point of the current process, which may end here. @returns true if it continues */
export function survives(point: string): boolean {
  const process = runningProcess();
  if (process === null) return true;
  if (!process.alive) return false;
  const run = theRun();
  if (!run.faults.fails(crashAt(point), run.weather.crash)) return true;
  run.note(`${process.name} crashes at ${point}`);
  endProcess(process);
  run.crashed(process, point);
  return false;
}

export interface Call<T> {
  /** Names it in faults and in the trace, such as `store.append`. */
  readonly port: string;
  /** The other side: called when the request arrives there, twice where it is repeated. */
  readonly serve: () => T;
  /** Result for the caller if the request or the answer is lost. Default: nothing is lost here. */
  readonly lost?: () => unknown;
  readonly repeats?: boolean;
  /** Time until a loss is noticed. */
  readonly patience_ms?: number;
}

/** A call over the simulated network: delayed, lost, repeated, or cut short by a crash, as the seed has it. */
export function call<T>({ port, serve, lost, repeats = false, patience_ms = 5_000 }: Call<T>): Promise<T> {
  const run = theRun();
  const process = runningProcess();
  const { agenda, faults, weather, random } = run;
  const at = placesOf(port);
  if (!survives(at.before)) return never();
  const way_ms = () => 1 + random.below(weather.way_ms);

  return new Promise<T>((resolve, reject) => {
    const back = (wait_ms: number, settle: () => void) =>
      agenda.after(wait_ms, () =>
        runIn(process, () => {
          if (survives(at.after)) settle();
        }),
      );
    if (lost && faults.fails(at.lostRequest, weather.loss)) {
      run.note(`${process?.name} loses the request of ${port}`);
      back(patience_ms, () => reject(lost()));
      return;
    }
    agenda.after(way_ms(), () => {
      const settle = settlement(serve, resolve, reject);
      if (repeats && faults.fails(at.repeated, weather.repeat))
        agenda.after(
          way_ms(),
          () =>
            void settlement(
              serve,
              () => {},
              () => {},
            ),
        );
      if (lost && faults.fails(at.lostAnswer, weather.loss)) {
        run.note(`${process?.name} loses the answer of ${port}`);
        back(patience_ms, () => reject(lost()));
      } else back(way_ms(), settle);
    });
  });
}

function settlement<T>(serve: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const value = serve();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
