/** Relays in the log and on their chain: the treasury pays their gas, the payer the moved money. */
import assert from 'node:assert/strict';
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
