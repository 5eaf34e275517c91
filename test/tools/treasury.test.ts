import assert from 'node:assert/strict';
import type { Database } from '../../src/postgres/database.ts';
import { sharedAnvil } from '../support/anvil.ts';
import { runTool } from '../support/operatorTools.ts';
import { merchantWallet } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { gateCases } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('npm run treasury -- …', () => {
  let database: Database;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    database = await freshDatabase();
    const { rpcUrl } = await sharedAnvil(8453);
    env = { RPC_URLS_8453: rpcUrl, DATA_DIR: temporaryDirectory() };
  });
  const run = (...args: string[]) => runTool('treasury', args, { database, env });
  const refused = async (args: readonly string[], about: RegExp) => {
    const { code, said } = await run(...args);
    assert.equal(code, 1, said);
    assert.match(said, about);
    assert.doesNotMatch(said, /\n +at /, 'a sentence, no stack');
  };

  it('states the fault of a typed command', async () => {
    const to = ['--to', merchantWallet];
    const typed: readonly (readonly [readonly string[], RegExp])[] = [
      [['withdraw', '8453', 'USDC', ...to], /missing required argument 'amount'/],
      [['withdraw', '8453', 'USDC', '1', ...to, '--reason', 'x'.repeat(401)], /1 to 400 characters/],
      [['addresses', 'add', '8453', merchantWallet], /required option '--label <name>'/],
      [['call-off'], /missing required argument 'id'/],
      [['withdraw', '8453', 'USDC', '1'], /required option '--to <address>'/],
    ];
    // A missing argument, a value out of bounds and a missing option.
    await Promise.all(gateCases(typed, (_, index) => index < 3).map(([args, about]) => refused(args, about)));
    await refused(['approve', 'nothing'], /notFound: no operation has this id/);
  });

  it('lists floats, and replays the policy without ordering anything', async () => {
    assert.match((await run('floats')).said, /No account of the treasury has open books/);
    assert.equal((await run('floats', '--json')).said, '[]\n');
    const dry = ['rebalance', '--dry-run', '--days', '2'];
    const floats = ['--float', '1:1000:5000:20000', '--float', 'base:1000:5000:20000'];
    const { code, said } = await run(...dry, ...floats);
    assert.equal(code, 0, said);
    assert.match(said, /^0 payouts and refunds from .* Nothing was ordered\./);
    assert.match(said, /Moves: 0, of 0\.00 USDC\. Fees: 0\.00 USDC/);
    const { without, with: moved } = JSON.parse((await run(...dry, ...floats, '--json')).said);
    assert.deepEqual([without.refusedPayments, moved.moves, moved.hourly['1'].length], [0, [], 48]);
    const usdt = [...dry, '--token', 'USDT', '--float', '1:1000:5000:20000', '--float'];
    const ofUsdt = await run(...usdt, '42161:1000:5000:20000');
    assert.match(ofUsdt.said, /Moves: 0, of 0\.00 USDT\. Fees: 0\.00 USDT, without gas and message fees/);
    await refused([...usdt, '8453:1000:5000:20000'], /Base has no USDT/);
    await refused(dry, /name two chains at least/);
  });

  it('states the fault of a rebalance', async () => {
    const typed: readonly (readonly [readonly string[], RegExp])[] = [
      [['8453', 'USDC'], /missing required argument 'amount'/],
      [['8453', 'USDC', '1', '1'], /required option '--via <address>'/],
      [['--dry-run', '--days', '367'], /a whole number from 1 to 366/],
      [['--dry-run', '--float', '1:5:4:6'], /the minimum is at most the target/],
      [['--dry-run', '--float', '1:5:6'], /write <chain>:<minimum>:<target>:<maximum>/],
    ];
    await Promise.all(
      gateCases(typed, (_, index) => index < 3).map(([args, about]) => refused(['rebalance', ...args], about)),
    );
  });

  it('keeps the address book: a new address cannot be used yet, a removed one is gone', async () => {
    const book = ['8453', merchantWallet.toLowerCase()];
    assert.deepEqual(await run('addresses', 'add', ...book, '--label', 'the bank'), { code: 0, said: 'Done.\n' });
    const { said } = await run('addresses', '--json');
    const [entry] = JSON.parse(said);
    assert.deepEqual([entry.address, entry.label, entry.memo], [merchantWallet, 'the bank', null]);
    await refused(['withdraw', 'Base', 'USDC', '1', '--to', merchantWallet], /was added recently/);
    assert.equal((await run('addresses', 'remove', ...book)).said, 'Done.\n');
    assert.match((await run('operations')).said, /No operation was ever ordered/);
  });
});
