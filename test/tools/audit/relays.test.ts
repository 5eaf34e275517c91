/** Relays in the log and on their chain: the treasury pays their gas, the payer the moved money. */
import assert from 'node:assert/strict';
import { Account, Keypair, MuxedAccount } from '@stellar/stellar-sdk';
import { chainOf, findToken } from '../../../domain/chains.ts';
import type { DomainEvent } from '../../../domain/decider.ts';
import {
  attempt,
  baseUsdc,
  depositAddress,
  digits,
  hashOf,
  landed,
  minute,
  reverted,
  treasuryAccount,
} from '../../support/payments.ts';
import { on } from './honest.ts';
import { audit, block, type Ground, type Said, type Shown, told, written } from './world.ts';

const paymentId = '0198f3c2-0000-8000-8000-000000000001';
const stream = `relay-${paymentId}-1`;
const { symbol, address, decimals } = baseUsdc.token;
const token = { symbol, address, decimals };
const fee = 21_000n;
const cost = { payer: treasuryAccount, fee: String(fee) };
const order = {
  paymentId,
  appId: 'wallet_demo',
  relay: 1,
  chainId: 8453,
  token,
  receiver: depositAddress,
  amount: digits('10.01'),
  form: {
    kind: 'authorization',
    deposit: { address: depositAddress, salt: '0x01' },
    payer: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    validAfter: '0',
    validBefore: '1795252000',
    nonce: `0x${'ab'.repeat(32)}`,
    signature: `0x${'11'.repeat(65)}`,
    costMax: '1000',
  },
  orderedAt: minute(1),
};
const signing = { ...attempt(1), chainId: 8453 as const, token, receiver: depositAddress, amount: digits('10.01') };
const ordered: DomainEvent = { type: 'RelayOrdered', data: order };
const signed: DomainEvent = { type: 'RelaySigned', data: signing };
const settled: DomainEvent = { type: 'RelayConfirmed', data: { ...landed(signing), cost, confirmedAt: minute(3) } };
const ended: DomainEvent = { type: 'RelayEnded', data: { reason: 'drained', detail: 'empty', endedAt: minute(4) } };
const { hash, blockNumber, blockHash } = landed(signing);
const failed = { ...reverted, landed: { hash, blockNumber, blockHash, cost } };
const died: DomainEvent = { type: 'RelayDied', data: { attempt: 1, proof: failed } };

const opened: readonly Said[] = on(`books-8453-${treasuryAccount}`, {
  type: 'BooksOpened',
  data: {
    chainId: 8453,
    account: treasuryAccount,
    blockNumber: '10',
    blockHash: hashOf('block', 10),
    balances: { [address]: '0', coin: '1000000' },
    openedAt: minute(0),
  },
});
const sent = (more: Partial<Shown> = {}): Shown => ({
  account: treasuryAccount,
  txHash: signing.hash,
  ...block(200),
  outgoing: true,
  succeeded: true,
  nonce: null,
  fee,
  changes: [],
  ...more,
});
const ground = (transactions: readonly Shown[], spent: bigint): Ground => ({
  chainId: 8453,
  transactions,
  holds: { [address]: 0n, coin: 1_000_000n - spent },
});
const tell = async (events: readonly DomainEvent[], transactions: readonly Shown[], spent = fee) =>
  told(await audit({ log: written([...opened, ...on(stream, ...events)]), grounds: [ground(transactions, spent)] }));

describe('the audit of relays', () => {
  it('finds nothing if a relay cost its gas, landed or reverted, or was ended unsigned', async () => {
    assert.deepEqual(await tell([ordered, signed, settled], [sent()]), []);
    assert.deepEqual(await tell([ordered, signed, died, ended], [sent({ succeeded: false })]), []);
    assert.deepEqual(await tell([ordered, ended], [], 0n), []);
  });

  it('knows what opening a deposit’s account on Solana costs, and finds another sum', async () => {
    const own = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
    const wallet = treasuryAccount;
    const usdc = findToken(chainOf(501), 'USDC') ?? assert.fail();
    const coin = { symbol: 'USDC' as const, address: usdc.address, decimals: 6 };
    const { nonce, costMax } = order.form;
    const form = {
      ...{ kind: 'payerTransaction', deposit: { address: own, salt: '01' }, payer: own, nonce, costMax },
      signature: `0x${'11'.repeat(66)}`,
    };
    const relayed = { ...order, chainId: 501, token: coin, receiver: own, form };
    const opening = { ...signing, chainId: 501 as const, account: wallet, nonce: null, token: coin, receiver: own };
    const paying = { ...opening, attempt: 2, hash: hashOf('paying') };
    const [rent, fees] = [2_039_280n, [5_080n, 10_001n] as const];
    const costs = [
      { payer: wallet, fee: '5080', rent: String(rent) },
      { payer: wallet, fee: '10001' },
    ] as const;
    const events: readonly DomainEvent[] = [
      { type: 'RelayOrdered', data: relayed },
      { type: 'RelaySigned', data: opening },
      { type: 'RelayAccountOpened', data: { attempt: 1, hash: opening.hash, blockNumber, blockHash, cost: costs[0] } },
      { type: 'RelaySigned', data: paying },
      { type: 'RelayConfirmed', data: { ...landed(paying), cost: costs[1], confirmedAt: minute(3) } },
    ];
    const books = on(`books-501-${wallet}`, {
      type: 'BooksOpened',
      data: {
        ...{ chainId: 501, account: wallet, blockNumber: '10', blockHash: hashOf('block', 10) },
        ...{ balances: { [usdc.address]: '0', coin: '3000000' }, openedAt: minute(0) },
      },
    });
    const on501 = (of: { readonly hash: string }, fee: bigint, paid: bigint): Shown => ({
      ...sent({ account: wallet, txHash: of.hash, fee }),
      changes: paid === 0n ? [] : [{ asset: 'coin', amount: -paid, counterparty: own }],
    });
    const found = async (paid: bigint) => {
      const transactions = [on501(opening, fees[0], paid), on501(paying, fees[1], 0n)];
      const holds = { [usdc.address]: 0n, coin: 3_000_000n - fees[0] - fees[1] - paid };
      const log = written([...books, ...on(stream, ...events)]);
      return told(await audit({ log, grounds: [{ chainId: 501, transactions, holds }] }));
    };
    assert.deepEqual(await found(rent), []);
    assert.notDeepEqual(await found(rent + 1n), []);
  });

  it('knows what an entry on Stellar costs, paid to the treasury with the memo of the payment alone', async () => {
    const [own, payer] = [Keypair.random().publicKey(), Keypair.random().publicKey()];
    const wallet = treasuryAccount;
    const usdc = findToken(chainOf(1500), 'USDC') ?? assert.fail();
    const coin = { symbol: 'USDC' as const, address: usdc.address, decimals: 7 };
    const receiver = new MuxedAccount(new Account(own, '0'), '77').accountId();
    const found = async (memo: string, spent = fee) => {
      const form = {
        ...{ kind: 'authorizationEntry', deposit: { address: own, salt: '01', memo }, payer, validUntil: '120' },
        ...{ nonce: '-17', signature: '0x00ab', costMax: '1000' },
      };
      const attempted = { ...signing, chainId: 1500 as const, account: wallet, token: coin, receiver };
      const at = { ...landed(attempted), cost: { payer: wallet, fee: String(fee) }, confirmedAt: minute(3) };
      const events: readonly DomainEvent[] = [
        { type: 'RelayOrdered', data: { ...order, chainId: 1500, token: coin, receiver, form } },
        { type: 'RelaySigned', data: attempted },
        { type: 'RelayConfirmed', data: at },
      ];
      const books = on(`books-1500-${wallet}`, {
        type: 'BooksOpened',
        data: {
          ...{ chainId: 1500, account: wallet, blockNumber: '10', blockHash: hashOf('block', 10) },
          ...{ balances: { [usdc.address]: '0', coin: '1000000' }, openedAt: minute(0) },
        },
      });
      const holds = { [usdc.address]: 0n, coin: 1_000_000n - spent };
      const transactions = [sent({ account: wallet, fee: spent })];
      const log = written([...books, ...on(stream, ...events)]);
      return told(await audit({ log, grounds: [{ chainId: 1500, transactions, holds }] }));
    };
    assert.deepEqual(await found('77'), []);
    assert.ok((await found('78')).includes(`illegalEvent ${stream}`));
    assert.notDeepEqual(await found('77', fee + 1n), []);
  });

  it('finds a transaction of the account that no relay has', async () => {
    assert.notDeepEqual(await tell([ordered, ended], [sent()]), []);
  });

  it('finds gas with another sum in the log', async () => {
    assert.notDeepEqual(await tell([ordered, signed, settled], [sent({ fee: fee + 1n })], fee + 1n), []);
  });

  it('finds tokens that left our account with it', async () => {
    const changes = [{ asset: address, amount: -1n, counterparty: depositAddress }];
    assert.notDeepEqual(await tell([ordered, signed, settled], [sent({ changes })]), []);
  });

  it('finds a relay in the stream of another one, to another receiver, signed after its end, or ended while it can land', async () => {
    const other = { ...ordered, data: { ...order, relay: 2 } };
    const astray = { ...ordered, data: { ...order, receiver: treasuryAccount } };
    for (const [events, transactions] of [
      [[other, ended], []],
      [[astray, ended], []],
      [[ordered, ended, signed, settled], [sent()]],
      [[ordered, signed, ended, settled], [sent()]],
    ] as const)
      assert.ok(
        (await tell(events, transactions, fee * BigInt(transactions.length))).includes(`illegalEvent ${stream}`),
        JSON.stringify(events.map(({ type }) => type)),
      );
  });
});
