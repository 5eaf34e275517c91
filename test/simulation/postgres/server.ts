/** A small model of Postgres: rows by their keys, transactions with row locks, session locks, notifications. */
import { type Table, tableNamed, tables } from './schema.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows come from SQL's side, which the compiler does not see
export type Row = Record<string, any>;

/** Data for statements: committed rows, overlaid with those of their own transaction. */
export interface View {
  rows(table: string): Row[];
  get(table: string, key: readonly unknown[]): Row | undefined;
  put(table: string, row: Row): void;
  remove(table: string, row: Row): void;
  /** Called when the transaction commits. */
  notify(channel: string, payload: string): void;
  now_ms(): number;
}

export interface Transaction {
  readonly view: View;
  commit(): void;
  rollback(): void;
}

/** A connection that keeps locks or listens. */
export interface Session {
  readonly locks: Set<string>;
  readonly channels: Set<string>;
  readonly hears: (channel: string, payload: string) => void;
}

/** Another transaction has changed the row and not ended: to be tried again. */
export class RowLocked extends Error {}

export interface PostgresModel {
  /** For statements outside of transactions. */
  readonly view: View;
  begin(): Transaction;
  readonly sessions: Set<Session>;
  /** @returns false while another session has it */
  tryLock(session: Session, name: string): boolean;
  end(session: Session): void;
  /** All rows, for a backup. */
  copy(): ReadonlyMap<string, ReadonlyMap<string, Row>>;
  restore(copy: ReadonlyMap<string, ReadonlyMap<string, Row>>): void;
}

type Changes = Map<string, Map<string, Row | null>>;

const partText = (part: unknown): string =>
  part instanceof Uint8Array ? Buffer.from(part).toString('hex') : String(part);
const keyText = (values: readonly unknown[]): string =>
  values.length === 1 ? partText(values[0]) : values.map(partText).join('\u0001');
const keyOf = ({ key }: Table, row: Row): string => keyText(key.map((column) => row[column]));

export function createPostgres(now_ms: () => number): PostgresModel {
  let base = new Map<string, Map<string, Row>>([...tables.keys()].map((name) => [name, new Map()]));
  const open = new Set<Changes>();
  const sessions = new Set<Session>();

  function baseOf(table: string): Map<string, Row> {
    const rows = base.get(table);
    if (!rows) throw new Error(`the model of Postgres has no table ${table}`);
    return rows;
  }

  function tell(channel: string, payload: string): void {
    for (const session of sessions) if (session.channels.has(channel)) session.hears(channel, payload);
  }

  /** @param changes null: at once */
  function viewOf(changes: Changes | null, notify: View['notify']): View {
    function change(table: string, key: string, row: Row | null): void {
      for (const other of open) if (other !== changes && other.get(table)?.has(key)) throw new RowLocked();
      if (changes) {
        const own = changes.get(table) ?? new Map<string, Row | null>();
        changes.set(table, own.set(key, row));
      } else if (row) baseOf(table).set(key, row);
      else baseOf(table).delete(key);
    }
    return {
      rows(table) {
        const own = changes?.get(table);
        if (!own?.size) return [...baseOf(table).values()];
        const merged = new Map<string, Row | null>([...baseOf(table), ...own]);
        return [...merged.values()].filter((row) => row !== null);
      },
      get(table, key) {
        const own = changes?.get(table)?.get(keyText(key));
        return own === undefined ? baseOf(table).get(keyText(key)) : (own ?? undefined);
      },
      put: (table, row) => change(table, keyOf(tableNamed(table), row), row),
      remove: (table, row) => change(table, keyOf(tableNamed(table), row), null),
      notify,
      now_ms,
    };
  }

  return {
    view: viewOf(null, tell),
    sessions,
    begin() {
      const changes: Changes = new Map();
      const told: (readonly [string, string])[] = [];
      open.add(changes);
      return {
        view: viewOf(changes, (channel, payload) => void told.push([channel, payload])),
        commit() {
          if (!open.delete(changes)) throw new Error('the transaction has ended');
          for (const [table, rows] of changes) {
            for (const [key, row] of rows) {
              if (row) baseOf(table).set(key, row);
              else baseOf(table).delete(key);
            }
          }
          for (const [channel, payload] of told) tell(channel, payload);
        },
        rollback: () => void open.delete(changes),
      };
    },
    tryLock(session, name) {
      for (const other of sessions) if (other !== session && other.locks.has(name)) return false;
      session.locks.add(name);
      return true;
    },
    end: (session) => void sessions.delete(session),
    copy: () => new Map([...base].map(([name, rows]) => [name, new Map(rows)])),
    restore(copy) {
      base = new Map([...copy].map(([name, rows]) => [name, new Map(rows)]));
    },
  };
}
