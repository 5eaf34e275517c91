/** A process that runs simulated worlds and reports the statements that the service sent to Postgres, with values and rows. */
import '../simulation/edge/hooks.ts';
import type { PostgresModel } from '../simulation/postgres/server.ts';
import type { Values } from '../simulation/postgres/statement.ts';
import type { Habit } from '../simulation/world/habits.ts';

export interface Recorded {
  /** Values of some of its calls, by the text of each statement. */
  readonly statements: ReadonlyMap<string, readonly Values[]>;
  /** Values that each column had, by `table.column`. */
  readonly pools: ReadonlyMap<string, readonly unknown[]>;
}

/** A world to run. Default of habits: those that its seed draws. */
export interface RecordedWorld {
  readonly seed: number;
  readonly habits?: readonly Habit[];
}

const samplesMost = 40;
const poolMost = 16;
/** Reading all rows at each statement would take most of the time. */
const statementsPerReading = 40;

const { simulate } = await import('../simulation/world/simulate.ts');
const { simulatedChains } = await import('../simulation/chains.ts');
const { tables } = await import('../simulation/postgres/schema.ts');

const statements = new Map<string, Values[]>();
const pools = new Map<string, Map<string, unknown>>();
let count = 0;

function readPools({ view }: PostgresModel): void {
  for (const { name } of tables.values()) {
    for (const row of view.rows(name).slice(-poolMost))
      for (const [column, value] of Object.entries(row)) {
        const pool = pools.get(`${name}.${column}`) ?? new Map<string, unknown>();
        pools.set(`${name}.${column}`, pool);
        if (pool.size < poolMost) pool.set(String(value), value);
      }
  }
}

function onStatement(text: string, values: Values, postgres: PostgresModel): void {
  const samples = statements.get(text) ?? [];
  statements.set(text, samples);
  // The latest replaces one of the earlier: worlds begin alike.
  samples[samples.length < samplesMost ? samples.length : count % samplesMost] = structuredClone(values);
  count += 1;
  if (count % statementsPerReading === 0) readPools(postgres);
}

process.on('message', (worlds: readonly RecordedWorld[]) => {
  void record(worlds);
});

async function record(worlds: readonly RecordedWorld[]): Promise<void> {
  for (const world of worlds) await simulate({ ...world, chains: simulatedChains, only: null, onStatement });
  const recorded: Recorded = {
    statements,
    pools: new Map([...pools].map(([column, values]) => [column, [...values.values()]])),
  };
  process.send?.(recorded, () => process.disconnect());
}
