/** Unreadable and unusual transactions of a node: none of them holds up anything else. */
import assert from 'node:assert/strict';
import { Keypair, SystemProgram } from 'solana-web3-v1';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { tokenAccount } from '../../../support/solana.ts';
import { type Ask, type Behaviour, honest, Refusal, startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

interface Shown {
  version: unknown;
  meta: Record<string, unknown> | null;
  transaction: { message: Record<string, unknown> | null } | null;
}

const newer: Behaviour = async () => {
  throw new Refusal(-32015, 'Transaction version (2) is not supported by the requesting client.');
};
const changed =
  (change: (shown: Shown) => void): Behaviour =>
  async (method, params, forward) => {
    const shown = (await forward(method, params)) as Shown;
    change(shown);
    return shown;
  };
const withoutMeta = changed((shown) => {
  shown.meta = null;
});

const balances = ({ meta }: Shown) =>
  ['preTokenBalances', 'postTokenBalances'].flatMap((name) => meta?.[name] as Record<string, unknown>[]);

describe('an unreadable transaction on Solana', () => {
  const own = eachWithDeposit();

  /** A node that returns one transaction in its own form. */
  const nodeShowing = (behaviour: Behaviour, which: () => string | undefined) =>
    startProxy(own.world.solana.rpcUrl, (method, params, forward) =>
      method === 'getTransaction' && (which() === undefined || params[0] === which())
        ? behaviour(method, params, forward)
        : forward(method, params),
    );

  for (const [what, behaviour, said] of [
    ['of a newer version than is known', newer, /version \(2\).* Upgrade this service/],
    ['without meta', withoutMeta, /it has no meta/],
    ['without a message', changed((shown) => Object.assign(shown, { transaction: null })), /it has no transaction/],
    [
      'with a balance of no account',
      changed((shown) => {
        for (const each of balances(shown)) each['accountIndex'] = 99;
      }),
      /expected a text/,
    ],
  ] as const) {
    it(`${what} is parked with its evidence, and the others are detected`, async () => {
      let bad: string | undefined = 'none yet';
      const node = await nodeShowing(behaviour, () => bad);
      const other = Keypair.generate().publicKey;
      const watcher = watching(own.world, [own.deposit, other], [node.url]);
      const first = await own.pay(1n);
      bad = await own.pay(2n);
      const last = await own.pay(3n);
      const others = await own.pay(5n, other);
      own.world.settle();
      const seen = [own.paid(1n, first), own.paid(3n, last), own.paid(5n, others, other)];
      const head = await watcher.poll('head');
      assert.deepEqual([briefly(head), head?.unreadable], [seen, []], 'the final pass parks it');
      const before = (await watcher.cursor('final')).blockNumber;
      const range = await watcher.poll('final');
      assert.deepEqual([briefly(range), range?.unexplained], [seen, []]);
      assert.ok(range && range.next.blockNumber > before);
      const [parked, ...more] = range.unreadable ?? [];
      assert.ok(parked && more.length === 0);
      const { txHash, blockNumber, addresses, evidence } = parked;
      assert.deepEqual([txHash, blockNumber, addresses], [bad, BigInt(own.slotOf(bad)), [String(own.deposit)]]);
      assert.match(evidence, said);

      own.world.settle(1);
      const later = await own.pay(4n);
      own.world.settle();
      const next = await watcher.poll('final');
      assert.deepEqual([briefly(next), next?.unreadable], [[own.paid(4n, later)], []], 'it is told once');
      assert.equal((await watcher.ingester.readDeposit?.(String(own.deposit), signal))?.explained, false);
      await assert.rejects(watcher.ingester.lookUp(bad, signal), ChainUnavailable);
      node.behave(honest);
      assert.deepEqual(
        (await watcher.ingester.lookUp(bad, signal)).map(({ amount }) => amount),
        ['2'],
      );
    });
  }

  it('is not parked if it has brought nothing: strangers make no work by sending SOL', async () => {
    let bad: string | undefined = 'none yet';
    const node = await nodeShowing(newer, () => bad);
    const first = await own.pay(1n);
    const toPubkey = await tokenAccount(own.deposit);
    const lamport = SystemProgram.transfer({ fromPubkey: own.payer.publicKey, toPubkey, lamports: 1 });
    bad = await own.world.lab.send(await own.world.lab.signed(own.payer, [lamport]));
    const second = await own.pay(2n);
    own.world.settle();
    const range = await watching(own.world, [own.deposit], [node.url]).poll('final');
    assert.deepEqual(briefly(range), [own.paid(1n, first), own.paid(2n, second)]);
    assert.deepEqual([range?.unreadable, range?.unexplained], [[], []]);
  });

  it('is not dismissed as empty when one node has it and another does not know it', async () => {
    const txHash = await own.pay(2n);
    own.world.settle();
    const node = await nodeShowing(withoutMeta, () => txHash);
    const empty = await nodeShowing(
      async () => null,
      () => txHash,
    );
    const lookUp = (...urls: string[]) => watching(own.world, [own.deposit], urls).ingester.lookUp(txHash, signal);
    await assert.rejects(lookUp(node.url, empty.url), /it has no meta/);
    await assert.rejects(lookUp(empty.url, node.url), /it has no meta/);
    assert.equal((await lookUp(node.url, own.world.solana.rpcUrl)).length, 1);
  });
});

describe('a transaction on Solana whose balances lack', () => {
  const own = eachWithDeposit();

  for (const missing of [['owner'], ['programId'], ['owner', 'programId']])
    it(`${missing.join(' and ')} pays the deposit nevertheless`, async () => {
      const old = changed((shown) => {
        for (const each of balances(shown)) for (const name of missing) delete each[name];
      });
      const node = await startProxy(own.world.solana.rpcUrl, (method, params, forward: Ask) =>
        method === 'getTransaction' ? old(method, params, forward) : forward(method, params),
      );
      const watcher = watching(own.world, [own.deposit], [node.url, own.world.solana.rpcUrl]);
      // The second transaction does not name the wallet, because its token account exists already.
      for (const amount of [5_000000n, 1n]) {
        const txHash = await own.pay(amount);
        own.world.settle();
        const range = await watcher.poll('final');
        assert.deepEqual(briefly(range), [own.paid(amount, txHash)]);
        const [log] = range?.logs ?? [];
        assert.ok(log);
        const transfer = transferOf(501, log);
        assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), [transfer]);
        assert.deepEqual(await watcher.ingester.agreed(transfer, { pass: 'final', usd: 5n }, signal), { agreed: true });
      }
    });
});
