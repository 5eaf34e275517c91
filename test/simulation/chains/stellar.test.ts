import { strict as assert } from 'node:assert';
import { Account, Keypair, Networks, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import { chainOf } from '../../../domain/chains.ts';
import { accountKey } from '../../../sandbox/stellar/ledger/entries.ts';
import { base64 } from '../../../sandbox/stellar/xdr.ts';
import { assetOf } from '../../../src/chains/stellar/tokens.ts';
import { manualKernel } from './manualKernel.ts';
import { ledger_ms, openStellarChain } from './stellar/chain.ts';

const [usdc] = chainOf(1500).tokens;
assert.ok(usdc);
const memo = '123456789';
type Told = Readonly<Record<string, unknown>>;

function world(seed = 1) {
  const kernel = manualKernel(seed);
  const chain = openStellarChain(kernel, 1500);
  const [node] = chain.nodes;
  assert.ok(node && usdc);
  const key = Keypair.fromSecret(chain.variables['STELLAR_TREASURY_SECRET'] ?? '');
  const receiver = chain.receiver();
  const customer = { address: chain.treasury, memo, tokenAddress: usdc.address, amount: 50_000_000n };
  const first = BigInt(49_999) << 32n;
  /** @param number from 1 */
  const transfer = (number: bigint, { valid_s = 300, fee = '1000' } = {}) => {
    const maxTime = Math.floor(kernel.now_ms() / 1_000) + valid_s;
    const source = new Account(key.publicKey(), (first + number - 1n).toString());
    const built = new TransactionBuilder(source, {
      fee,
      networkPassphrase: Networks.PUBLIC,
      timebounds: { minTime: 0, maxTime },
    })
      .addOperation(Operation.payment({ destination: receiver, asset: assetOf(usdc), amount: '3' }))
      .build();
    built.sign(key);
    return { bytes: built.toEnvelope().toXDR('base64'), hash: built.hash().toString('hex') };
  };
  const of = (method: string, params: Told) =>
    chain.nodes.map((each) => {
      try {
        return each.ask(method, params) as Told;
      } catch (error) {
        return { refused: (error as Error).message };
      }
    });
  const ask = (method: string, params: Told) => node.ask(method, params) as Told;
  const events = () =>
    of('getEvents', { startLedger: 49_000, filters: [], pagination: { limit: 100 } }).map(
      ({ events: told }) => told as readonly Told[],
    );
  return { kernel, chain, ask, of, events, customer, receiver, transfer };
}

const resultOf = ({ errorResultXdr }: Told): number => Buffer.from(String(errorResultXdr), 'base64').readInt32BE(8);
const [tooLate, badSequence] = [-3, -5];

describe('a simulated Stellar', () => {
  it('closes a ledger with a customer’s payment, and returns it as an event with its memo', () => {
    const { kernel, chain, customer, events, ask } = world();
    chain.pay(customer);
    kernel.advance(4 * ledger_ms);
    const [transfer] = chain.truth.transfers();
    assert.equal(transfer?.memo, memo);
    assert.equal(transfer?.amount, customer.amount);
    assert.deepEqual(
      events().map((told) => told.map(({ txHash }) => txHash)),
      chain.nodes.map(() => [transfer?.txHash, transfer?.txHash]),
    );
    assert.equal(ask('getTransaction', { hash: transfer?.txHash })['status'], 'SUCCESS');
  });

  it('applies a treasury’s transaction once, also if it is sent again', () => {
    const { kernel, chain, ask, receiver, transfer } = world();
    const { bytes, hash } = transfer(1n);
    assert.equal(ask('sendTransaction', { transaction: bytes })['status'], 'PENDING');
    assert.equal(ask('sendTransaction', { transaction: bytes })['status'], 'DUPLICATE');
    kernel.advance(3 * ledger_ms);
    assert.equal(chain.truth.balance(receiver, usdc?.address ?? ''), 30_000_000n);
    assert.equal(ask('sendTransaction', { transaction: bytes })['status'], 'TRY_AGAIN_LATER');
    assert.deepEqual(chain.truth.received(), [hash]);
    kernel.advance(3 * ledger_ms);
    assert.equal(chain.truth.balance(receiver, usdc?.address ?? ''), 30_000_000n);
  });

  it('refuses a landed transaction for eight ledgers, then for its used number', () => {
    const { kernel, ask, transfer } = world();
    const { bytes } = transfer(1n);
    ask('sendTransaction', { transaction: bytes });
    kernel.advance(2 * ledger_ms);
    assert.equal(ask('sendTransaction', { transaction: bytes })['status'], 'TRY_AGAIN_LATER');
    kernel.advance(9 * ledger_ms);
    const refused = ask('sendTransaction', { transaction: bytes });
    assert.deepEqual([refused['status'], resultOf(refused)], ['ERROR', badSequence]);
  });

  it('refuses a number that is not next, and a time that has passed', () => {
    const { kernel, ask, transfer } = world();
    assert.equal(resultOf(ask('sendTransaction', { transaction: transfer(2n).bytes })), badSequence);
    const { bytes } = transfer(1n, { valid_s: 10 });
    kernel.advance(3 * ledger_ms);
    assert.equal(resultOf(ask('sendTransaction', { transaction: bytes })), tooLate);
  });

  it('accepts one transaction of an account at a time', () => {
    const { ask, transfer } = world();
    ask('sendTransaction', { transaction: transfer(1n).bytes });
    assert.equal(
      ask('sendTransaction', { transaction: transfer(1n, { fee: '2000' }).bytes })['status'],
      'TRY_AGAIN_LATER',
    );
  });

  it('lets a transaction wait until its time has passed if nobody receives it, or it offers too little', () => {
    for (const fault of ['stellar.queue.drops', 'stellar.queue.waits', 'stellar.queue.loses', 'stellar.fees.rise']) {
      const { kernel, chain, ask, receiver, transfer } = world();
      kernel.break(fault);
      kernel.advance(ledger_ms);
      const { bytes } = transfer(1n, { valid_s: 30 });
      ask('sendTransaction', { transaction: bytes });
      kernel.advance(10 * ledger_ms);
      kernel.mend();
      chain.calm();
      kernel.advance(3 * ledger_ms);
      assert.equal(chain.truth.balance(receiver, usdc?.address ?? ''), 0n, fault);
    }
  });

  it('stops for a while', () => {
    const { kernel, chain } = world();
    kernel.break('stellar.ledger.stalls');
    kernel.advance(5 * ledger_ms);
    assert.equal(chain.truth.head(), 50_000n);
  });
});

describe('temporary faults of a simulated Stellar node', () => {
  function under(spell: string) {
    const made = world();
    made.chain.pay(made.customer);
    made.kernel.advance(4 * ledger_ms);
    made.kernel.break(`stellar.node.${spell}`);
    made.kernel.advance(ledger_ms);
    return made;
  }
  const differ = (answers: readonly unknown[]) => new Set(answers.map((each) => JSON.stringify(each))).size > 1;

  it('it lags', () => {
    const { chain, of } = under('lags');
    for (const { latestLedger } of of('getHealth', {})) assert.ok(BigInt(Number(latestLedger)) < chain.truth.head());
  });
  it('it receives no new ledgers', () => {
    const { kernel, of } = under('stays');
    const before = of('getHealth', {});
    kernel.advance(2 * ledger_ms);
    assert.deepEqual(of('getHealth', {}), before);
  });
  for (const spell of ['away', 'fails', 'crowded'])
    it(`it answers nothing, or with an error: ${spell}`, () =>
      assert.ok(
        under(spell)
          .of('getHealth', {})
          .every(({ refused }) => refused !== undefined),
      ));
  it('it keeps transactions to itself', () => {
    const { kernel, chain, of, receiver, transfer } = under('swallows');
    of('sendTransaction', { transaction: transfer(1n).bytes });
    kernel.advance(5 * ledger_ms);
    assert.equal(chain.truth.balance(receiver, usdc?.address ?? ''), 0n);
  });
  it('it is too busy to accept anything', () => {
    const { of, transfer } = under('isBusy');
    assert.ok(
      of('sendTransaction', { transaction: transfer(1n).bytes }).every(({ status }) => status === 'TRY_AGAIN_LATER'),
    );
  });
  it('one hides events', () => assert.ok(differ(under('hidesEvents').events())));
  it('one hides transactions', () => {
    const { chain, of } = under('hidesTransactions');
    const told = of('getTransaction', { hash: chain.truth.transfers()[0]?.txHash });
    assert.ok(differ(told.map(({ status }) => status)));
  });
  it('one forgets', () => {
    const { kernel, of } = under('forgets');
    kernel.advance(2 * ledger_ms);
    assert.ok(differ(of('getHealth', {}).map(({ oldestLedger }) => oldestLedger)));
  });
  it('one counts on', () => {
    const { chain, of, transfer } = under('countsOn');
    of('sendTransaction', { transaction: transfer(1n).bytes });
    const keys = [base64(accountKey(chain.treasury))];
    assert.ok(differ(of('getLedgerEntries', { keys })));
  });
  it('one runs ahead', () =>
    assert.ok(
      differ(
        under('runsAhead')
          .of('getHealth', {})
          .map(({ latestLedgerCloseTime }) => latestLedgerCloseTime),
      ),
    ));
  it('one returns a payment that nobody made', () => {
    const { kernel, chain, events } = under('forges');
    kernel.advance(ledger_ms);
    const real = new Set(chain.truth.transfers().map(({ txHash }) => txHash));
    const forged = events().map((told) => told.filter(({ txHash }) => !real.has(String(txHash))).length);
    assert.equal(forged.filter((count) => count > 0).length, 1);
  });
});
