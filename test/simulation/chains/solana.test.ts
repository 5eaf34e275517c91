import { strict as assert } from 'node:assert';
import { chainOf } from '../../../domain/chains.ts';
import { transferMessage, wireOf } from '../../../src/chains/solana/payouts/transaction.ts';
import { parseSolanaKey } from '../../../src/chains/solana/signer/keys.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { manualKernel } from './manualKernel.ts';
import { openSolanaChain, tick_ms } from './solana/chain.ts';

const [usdc] = chainOf(501).tokens;
assert.ok(usdc);
const token = usdc;
type Told = Readonly<Record<string, unknown>>;
const confirmed = { commitment: 'confirmed' };
const unknownSignature = '1'.repeat(64);

function world(seed = 1) {
  const kernel = manualKernel(seed);
  const chain = openSolanaChain(kernel, 501);
  const [node] = chain.nodes;
  const key = parseSolanaKey(chain.variables['SOLANA_TREASURY_PRIVATE_KEY'] ?? '');
  assert.ok(node && key);
  const [receiver, owner] = [chain.receiver(), chain.receiver()];
  const ask = (method: string, ...params: readonly unknown[]) => node.ask(method, params) as never;
  const of = (method: string, ...params: readonly unknown[]) =>
    chain.nodes.map((each): unknown => {
      try {
        return each.ask(method, params);
      } catch (error) {
        return (error as Error).message;
      }
    });
  const transfer = () => {
    const { value }: { value: { blockhash: string } } = ask('getLatestBlockhash', confirmed);
    const order = { chainId: 501, token, receiver, receiverMemo: null, amount: 7_000_000n } as const;
    const terms = { blockhash: value.blockhash, units: 80_000, price_microLamports: 2_000n };
    const message = transferMessage(chain.treasury, order, owner, terms);
    return wireOf(message, [key.sign(message)]);
  };
  const customer = { address: owner, memo: null, tokenAddress: token.address, amount: 5_000_000n };
  const send = (bytes: string, how = {}) =>
    ask('sendTransaction', bytes, { encoding: 'base64', preflightCommitment: 'confirmed', ...how });
  return {
    kernel,
    chain,
    ask,
    of,
    send,
    transfer,
    customer,
    receiver,
    owner,
    account: tokenAccountOf(owner, token.address),
  };
}

describe('a simulated Solana', () => {
  it('lets a customer pay into a token account, which lists the payment and its changes', () => {
    const { kernel, chain, ask, customer, account } = world();
    chain.pay(customer);
    kernel.advance(4 * tick_ms);
    const [transfer] = chain.truth.transfers();
    assert.equal(transfer?.amount, customer.amount);
    assert.equal(transfer?.to, customer.address);
    const listed: readonly { signature: string }[] = ask('getSignaturesForAddress', account, confirmed);
    assert.deepEqual(
      listed.map(({ signature }) => signature),
      [transfer?.txHash],
    );
    const shown: { meta: { postTokenBalances: readonly { accountIndex: number }[] } } = ask(
      'getTransaction',
      transfer?.txHash,
      confirmed,
    );
    assert.ok(shown.meta.postTokenBalances.some(({ accountIndex }) => accountIndex === transfer?.index));
  });

  it('refuses to list transactions before or until one that it does not have', () => {
    const { kernel, chain, ask, customer, account } = world();
    for (let paid = 0; paid < 2; paid += 1) {
      chain.pay(customer);
      kernel.advance(4 * tick_ms);
    }
    const list = (more: object): readonly string[] => {
      const listed: readonly { signature: string }[] = ask('getSignaturesForAddress', account, {
        ...confirmed,
        ...more,
      });
      return listed.map(({ signature }) => signature);
    };
    const [newest, oldest] = list({});
    assert.deepEqual(list({ before: newest }), [oldest]);
    assert.deepEqual(list({ until: oldest }), [newest]);
    for (const bound of ['before', 'until'])
      assert.throws(() => list({ [bound]: unknownSignature }), { code: -32_020 });
  });

  it('lands a treasury’s transaction once, however often it is sent', () => {
    const { kernel, chain, send, transfer, receiver } = world();
    const bytes = transfer();
    send(bytes);
    send(bytes);
    kernel.advance(3 * tick_ms);
    send(bytes, { skipPreflight: true });
    assert.throws(() => send(bytes), /already been processed/);
    kernel.advance(3 * tick_ms);
    assert.equal(chain.truth.balance(receiver, token.address), 7_000_000n);
    assert.equal(chain.truth.received().length, 1);
  });

  it('lands nothing with a blockhash that is too old', () => {
    const { kernel, chain, send, transfer, receiver } = world();
    const bytes = transfer();
    kernel.advance(50 * tick_ms);
    assert.throws(() => send(bytes), /Blockhash not found/);
    send(bytes, { skipPreflight: true });
    kernel.advance(5 * tick_ms);
    assert.equal(chain.truth.balance(receiver, token.address), 0n);
  });

  it('loses a transaction if nobody receives it, or a leader drops it', () => {
    for (const fault of ['solana.gossip.drops', 'solana.leader.drops']) {
      const { kernel, chain, send, transfer, receiver } = world();
      kernel.break(fault);
      send(transfer());
      kernel.advance(5 * tick_ms);
      kernel.mend();
      kernel.advance(5 * tick_ms);
      assert.equal(chain.truth.balance(receiver, token.address), 0n, fault);
    }
  });

  it('skips slots, and stops for a while', () => {
    const { kernel, chain, ask } = world();
    kernel.break('solana.slot.skipped');
    kernel.advance(tick_ms);
    kernel.mend();
    kernel.advance(tick_ms);
    assert.throws(() => ask('getBlock', 41, confirmed), /skipped/);
    const before = chain.truth.head();
    kernel.break('solana.chain.stalls');
    kernel.advance(2 * tick_ms);
    assert.equal(chain.truth.head(), before);
  });

  it('rolls back confirmed slots, and never final ones', () => {
    let takenBack = 0;
    for (let seed = 1; seed <= 6; seed += 1) {
      const { kernel, chain, customer } = world(seed);
      chain.pay(customer);
      kernel.advance(8 * tick_ms);
      const final = chain.truth.transfers();
      assert.equal(final.length, 1);
      chain.pay(customer);
      kernel.advance(2 * tick_ms);
      kernel.break('solana.fork', 'solana.fork.forgets');
      kernel.advance(tick_ms);
      takenBack += chain.truth.transfers().length === 1 ? 1 : 0;
      kernel.advance(20 * tick_ms);
      assert.deepEqual(chain.truth.transfers()[0], final[0]);
    }
    assert.ok(takenBack > 0);
  });
});

describe('temporary faults of a simulated Solana node', () => {
  function under(spell: string) {
    const made = world();
    made.chain.pay(made.customer);
    made.kernel.advance(8 * tick_ms);
    made.kernel.break(`solana.node.${spell}`);
    made.kernel.advance(tick_ms + 1_000);
    return made;
  }
  const differ = (answers: readonly unknown[]) => new Set(answers.map((each) => JSON.stringify(each))).size > 1;
  const heads = ({ of }: ReturnType<typeof world>) => of('getSlot', confirmed).map(Number);

  it('it lags', () => {
    const made = under('lags');
    assert.ok(heads(made).every((slot) => slot < Number(made.chain.truth.head())));
  });
  it('it receives no new slots', () => {
    const made = under('stays');
    const before = heads(made);
    made.kernel.advance(2 * tick_ms);
    assert.deepEqual(heads(made), before);
  });
  for (const spell of ['away', 'fails', 'crowded'])
    it(`it answers nothing, or with an error: ${spell}`, () => assert.ok(heads(under(spell)).every(Number.isNaN)));
  it('it keeps transactions to itself', () => {
    const { kernel, chain, send, transfer, receiver } = under('swallows');
    send(transfer());
    kernel.advance(5 * tick_ms);
    assert.equal(chain.truth.balance(receiver, token.address), 0n);
  });
  it('its lists are behind its blocks', () => {
    const { kernel, chain, of, customer, account } = under('listsLate');
    chain.pay(customer);
    const lists = () =>
      of('getSignaturesForAddress', account, confirmed).map((listed) => (listed as readonly Told[]).length);
    for (let slots = 0; slots < 20 && chain.truth.transfers().length < 2; slots += 1) kernel.advance(1_000);
    assert.ok(lists().every((count) => count === 1));
  });
  it('it reports slots whose blocks it does not have', () => {
    const made = under('newestMissing');
    assert.ok(made.of('getBlock', heads(made)[0], confirmed).some((told) => /not available/.test(String(told))));
  });
  it('one hides histories', () => {
    const { of, account } = under('hidesHistories');
    assert.ok(differ(of('getSignaturesForAddress', account, confirmed)));
  });
  it('one hides transactions', () => {
    const { chain, of } = under('hidesTransactions');
    assert.ok(differ(of('getTransaction', chain.truth.transfers()[0]?.txHash, confirmed)));
  });
  it('one reports all as expired', () => {
    const { of } = under('expiresAll');
    assert.ok(differ(of('getEpochInfo', { commitment: 'finalized' }).map((told) => (told as Told)['blockHeight'])));
  });
  it('one requests a thousand times as much', () => {
    assert.ok(
      differ(
        under('asksForMore')
          .of('getRecentPrioritizationFees')
          .map((told) => JSON.stringify(told).includes('2000000')),
      ),
    );
  });
  it('one returns a payment that nobody made', () => {
    const { of, account } = under('forges');
    assert.ok(differ(of('getSignaturesForAddress', account, { commitment: 'finalized' })));
    assert.ok(
      differ(of('getMultipleAccounts', [account], { commitment: 'finalized' }).map((told) => (told as Told)['value'])),
    );
  });
});
