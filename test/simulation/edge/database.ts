/** Replaces src/postgres/database.ts: statements reach the model of Postgres over the simulated network. */
import type pg from 'pg';
import { Unavailable } from '../../../commands/ports.ts';
import type { Sql } from '../../../projections/sql.ts';
import type * as real from '../../../src/postgres/database.ts';
import { never, runIn, runningProcess } from '../kernel/process.ts';
import { call, theRun } from '../kernel/run.ts';
import { RowLocked, type Session, type View } from '../postgres/server.ts';
import { statementOf } from '../postgres/statements.ts';

export type { Database } from '../../../src/postgres/database.ts';

export const serviceConnections: typeof real.serviceConnections = [];
export const unavailableOr: typeof real.unavailableOr = (error) => error;

const broken = () => new Unavailable('Postgres cannot answer now: try again');
const lockPause_ms = 20;

async function query<R>(view: () => View, text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
  const { name, run } = known(text);
  const serve = () => {
    const { onStatement, stores } = theRun();
    onStatement(text, values, stores.postgres);
    return run(view(), values, text);
  };
  for (;;) {
    try {
      return (await call({ port: `pg.${name}`, serve, lost: broken })) as R[];
    } catch (error) {
      if (!(error instanceof RowLocked)) throw error;
      await pause(lockPause_ms);
    }
  }
}

function known(text: string): ReturnType<typeof statementOf> {
  try {
    return statementOf(text);
  } catch (error) {
    theRun().broken(error);
    throw error;
  }
}

const pause = (wait_ms: number) => new Promise<void>((resolve) => setTimeout(resolve, wait_ms));

async function transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
  const { postgres } = theRun().stores;
  const opened = postgres.begin();
  const process = runningProcess();
  process?.onEnd.add(opened.rollback);
  try {
    const result = await work({ query: (text, values) => query(() => opened.view, text, values) });
    await call({ port: 'pg.commit', serve: opened.commit, lost: broken });
    return result;
  } finally {
    // Committed changes stay.
    opened.rollback();
    process?.onEnd.delete(opened.rollback);
  }
}

let sessionsBegun = 0;

/** Part of the driver's client that leases and listeners use, and the check at a start that each connection is a separate session. */
async function connect(name: string): Promise<pg.Client> {
  await call({ port: `pg.connect.${name}`, serve: () => {}, lost: broken });
  const { stores, agenda, faults, weather, random } = theRun();
  const { postgres } = stores;
  const process = runningProcess();
  const handlers = new Map<string, ((told?: unknown) => void)[]>();
  const emit = (event: string, told?: unknown) => {
    for (const handler of handlers.get(event) ?? []) handler(told);
  };
  const session: Session = {
    locks: new Set(),
    channels: new Set(),
    hears: (channel, payload) =>
      agenda.after(1 + random.below(weather.way_ms), () =>
        runIn(process, () => {
          if (postgres.sessions.has(session)) emit('notification', { channel, payload });
        }),
      ),
  };
  const leave = () => postgres.end(session);
  postgres.sessions.add(session);
  sessionsBegun += 1;
  const pid = sessionsBegun;
  process?.onEnd.add(leave);

  function end(): void {
    leave();
    process?.onEnd.delete(leave);
    emit('end');
  }
  async function ask(text: string, values: readonly unknown[] = []) {
    if (faults.fails(`broken.pg.${name}`, weather.loss)) {
      end();
      throw broken();
    }
    if (!postgres.sessions.has(session)) throw broken();
    return { rows: await call({ port: `pg.${name}`, serve: () => answer(text, values), lost: broken }) };
  }
  function answer(text: string, [lease]: readonly unknown[]): readonly object[] {
    const channel = /^LISTEN "(\w+)"$/.exec(text)?.[1];
    if (channel !== undefined) session.channels.add(channel);
    if (text.includes('pg_backend_pid')) return [{ pid, zone: 'UTC' }];
    if (text.includes('pg_try_advisory_lock')) return [{ done: postgres.tryLock(session, String(lease)) }];
    if (text.includes('pg_advisory_unlock')) return [{ done: session.locks.delete(String(lease)) }];
    return [];
  }
  const client = {
    query: ask,
    end: async () => (process?.alive === false ? never() : end()),
    on(event: string, handler: (told?: unknown) => void) {
      handlers.set(event, [...(handlers.get(event) ?? []), handler]);
      return client;
    },
    escapeIdentifier: (text: string) => `"${text}"`,
  };
  return client as unknown as pg.Client;
}

export const openDatabase: typeof real.openDatabase = ({ url }) => ({
  url,
  query: (text, values) => query(() => theRun().stores.postgres.view, text, values),
  transaction,
  connect,
  close: async () => {},
});
