import assert from 'node:assert/strict';
import { parseEther } from 'viem';
import { openActive } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import { fund } from '../../sandbox/tokens.ts';
import { rememberIdentity } from '../../src/postgres/chainIdentities.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { systemClock } from '../../src/process/system.ts';
import type { DoctorVerdict, Examined } from '../../tools/doctor/machine.ts';
import { startProxy } from '../chains/proxy.ts';
import { chainClient, isolatedAnvil, treasury } from '../support/anvil.ts';
import { sharedEventStore } from '../support/eventstore.ts';
import { runTool } from '../support/operatorTools.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('npm run doctor', () => {
  let rpcUrl: string;
  let eventStoreUrl: string;
  let database: Database;
  before(async () => {
    ({ rpcUrl } = await isolatedAnvil(8453, { mining: { blockTime_s: 0.2 } }));
    // On a chain of a few blocks only the first one is final.
    await chainClient(rpcUrl).mine({ blocks: 10 });
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 2_000_000n } });
    ({ url: eventStoreUrl } = await sharedEventStore());
  });
  beforeEach(async () => {
    database = await freshDatabase();
  });

  const settings = () => ({ RPC_URLS_8453: rpcUrl, EVENTSTORE_URL: eventStoreUrl, OPERATIONS_PORT: '1' });
  const examine = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
    runTool('doctor', args, { database, env: { ...settings(), ...env } });

  interface Line {
    readonly verdict: DoctorVerdict;
    readonly said: string;
    readonly todo?: string;
  }

  async function linesOf(env: Readonly<Record<string, string>> = {}) {
    const { code, said } = await examine(env, '--json');
    const { verdict, areas } = JSON.parse(said) as { verdict: DoctorVerdict; areas: readonly Examined[] };
    const lines = areas.flatMap(({ area, findings }) =>
      findings.map(({ what, ...line }): [string, Line] => [`${area}: ${what}`, line]),
    );
    return { code, verdict, lines: new Map(lines) };
  }

  it('checks all needs of an installation, states the next step for each finding, and changes nothing', async () => {
    const { code, said } = await examine();
    assert.equal(code, 0, said);
    assert.match(said, /This machine\n {2}✔ Node: 24\./);
    assert.match(said, /Postgres\n {2}✔ version: \d+/);
    assert.match(said, /! durability: fsync off.*\n {6}→ set both to on/);
    assert.match(said, /! read models "work": not made yet\n {6}→ nothing: the first start makes them/);
    assert.match(
      said,
      /Event store\n {2}✔ answers: its log ends at position \d+\n {2}✔ version: embedded, for trials and small installations\n {2}✔ access: no user is needed\n {2}✔ fits Postgres/,
    );
    assert.match(said, /Base \(8453\)\n {2}✔ node 1 \(127\.0\.0\.1:\d+\): block \d+, \d s old, answers in \d+ ms/);
    assert.match(said, /✔ coin of the treasury: 1\.00\n {2}✔ USDC of the treasury: 2\.00/);
    assert.match(said, /! ready: nothing answers on http:\/\/127\.0\.0\.1:1\n/);
    assert.match(said, /It can run\. Look at the lines with “!”\./);
    assert.deepEqual(await database.query('SELECT * FROM ops.projections'), []);
  });

  it('names every setting that is wrong, and ends with 1', async () => {
    const { code, verdict, lines } = await linesOf({ MASTER_KEY: 'short', RPC_URLS_8453: '' });
    assert.equal(code, 1);
    assert.equal(verdict, 'broken');
    assert.deepEqual([...lines.keys()], ['Configuration: setting']);
    const { said } = await examine({ MASTER_KEY: 'short', RPC_URLS_8453: '' });
    assert.match(
      said,
      /✖ setting: MASTER_KEY is not .*\n[\s\S]*✖ setting: RPC_URLS_<chainId>: name at least one chain/,
    );
    assert.doesNotMatch(said, /short/);
  });

  it('still checks the others when one does not answer, and prints no password or key of an address', async () => {
    const { said, code } = await examine({
      DATABASE_URL: 'postgres://clerk:hunter2@127.0.0.1:1/payments',
      RPC_URLS_8453: `${rpcUrl}/?key=hunter3`,
    });
    assert.equal(code, 1);
    assert.match(said, /Postgres\n {2}✖ look: .*\n {6}→ mend what this says/);
    assert.match(said, /! fits Postgres: not compared/);
    assert.match(said, /✔ node 1/);
    assert.match(said, /It cannot run as it should/);
    assert.doesNotMatch(said, /hunter/);
  });

  it('names a node that does not answer, one of another network, and a treasury that holds nothing', async () => {
    const dead = await startProxy(rpcUrl, () => Promise.reject(new Error('gone')));
    await rememberIdentity(database, 8453, '0xanother', systemClock.now());
    const { code, lines } = await linesOf({
      RPC_URLS_8453: `${rpcUrl},${dead.url}`,
      TREASURY_PRIVATE_KEY: `0x${'7'.repeat(64)}`,
    });
    assert.equal(code, 1);
    const nodes = [...lines].flatMap(([what, line]) => (what.startsWith('Base (8453): node') ? [line] : []));
    assert.deepEqual(
      nodes.map(({ verdict }) => verdict),
      ['broken', 'broken'],
    );
    assert.match(nodes[0]?.said ?? '', /another network than 0xanother/);
    assert.match(nodes[1]?.todo ?? '', /take another node into RPC_URLS_8453; npm run check-chain -- 8453 tells more/);
    assert.equal(lines.get('Base (8453): coin of the treasury')?.verdict, 'look');
    assert.match(lines.get('Base (8453): USDC of the treasury')?.todo ?? '', /send some to 0x[0-9a-fA-F]{40}/);
  });

  it('finds a log that is older than the last state in Postgres, and read models of another version', async () => {
    await openActive(database, workSet, await ddlOf('work'));
    await database.query(
      `UPDATE ops.projections SET position = 9000000000000000, event_id = 'lost', applied_position = 9000000000000000,
              applied_id = 'lost', version = version - 1`,
    );
    const { code, lines } = await linesOf();
    assert.equal(code, 1);
    assert.equal(lines.get('Event store: fits Postgres')?.verdict, 'broken');
    assert.match(lines.get('Event store: fits Postgres')?.todo ?? '', /rebuild -- --log-restored/);
    assert.equal(lines.get('Postgres: read models "work"')?.todo, 'npm run rebuild -- --set work');
  });

  it('checks whether the running service is ready, and whether the mail server accepts mail', async () => {
    const { code, lines } = await linesOf({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Pay <pay@example.com>' });
    assert.equal(code, 1);
    assert.match(lines.get('The service: mail')?.todo ?? '', /look at SMTP_URL/);
    assert.equal(lines.get('The service: ready')?.verdict, 'look');
  });
});
