/** Rebalances to and from Stellar: the audit compares both chains with the log, in their own decimals and accounts. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import { routeContracts, standard, stellarCctp } from '../../../domain/rebalance/cctp.ts';
import type { RebalanceEvent } from '../../../domain/rebalance/events.ts';
import { baseUsdc, treasuryAccount } from '../../support/payments.ts';
import {
  attested,
  burnAttempt,
  burnConfirmed,
  messageOf,
  mintAttempt,
  mintConfirmed,
  move,
  ordered,
} from '../../support/rebalances.ts';
import { books, gas, honest, instead, moved, on, onBase, shown, withCost, without } from './honest.ts';
import { audit, block, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const stream = 'rebalance-r1';
const account = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
const thief = 'GBBD47IF6LWK7P7MDEVSCWR7DPUWV3NY3DTQEVFL4NAT4AQH3ZLLFLA5';
const stellarUsdc = {
  symbol: 'USDC',
  address: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  decimals: 7,
} as const;
const base = { chainId: 8453, account: treasuryAccount, token: baseUsdc.token } as const;
const stellar = { chainId: 1500, account, token: stellarUsdc } as const;
const route = (from: 8453 | 1500, to: 8453 | 1500) => ({
  ...{ kind: 'cctp' as const, sourceDomain: from === 1500 ? 27 : 6, destinationDomain: to === 1500 ? 27 : 6 },
  ...{
    ...routeContracts(from, to),
    finality: standard as typeof standard,
    feeMax: from === 1500 ? '1000000' : '100000',
  },
});
/** 100 USDC in each direction. */
const into = move({ from: base, to: stellar, amount: '100000000', route: route(8453, 1500) });
const outOf = move({ from: stellar, to: base, amount: '1000000000', route: route(1500, 8453) });

const nonceOn = (chainId: number) => (chainId === 1500 ? '429496729601' : '21');
const stellarCost = { payer: account, fee: '300' };

/** The money's account pays for its own transactions. */
function lifeOf(order: typeof into): readonly DomainEvent[] {
  const received = order.to.chainId === 1500 ? '1000000000' : '100000000';
  const costed = (event: DomainEvent, chainId: number): DomainEvent =>
    chainId === 1500 ? { ...event, data: { ...event.data, cost: stellarCost } } : withCost(event);
  const own = { account: order.from.account, nonce: nonceOn(order.from.chainId) };
  const there = { account: order.to.account, nonce: nonceOn(order.to.chainId) };
  return [
    ordered(order),
    { type: 'BurnSigned', data: { ...burnAttempt(order), ...own } } as RebalanceEvent,
    costed(burnConfirmed(), order.from.chainId),
    attested(order),
    { type: 'MintSigned', data: { ...mintAttempt(order, 1, received), ...there } } as RebalanceEvent,
    costed(mintConfirmed(received), order.to.chainId),
  ].map((event) => ({ ...event, data: 'blockNumber' in event.data ? { ...event.data, ...landedAt } : event.data }));
}
const landedAt = { blockNumber: '300', blockHash: block(300).blockHash };

const onStellar = (hash: string, units: bigint, counterparty: string, over: Partial<Shown> = {}): Shown => ({
  ...moved(hash, 300, '1.00', counterparty),
  ...{ account, outgoing: true, fee: 300n, nonce: 429_496_729_601n },
  changes: [{ asset: stellarUsdc.address, amount: units, counterparty }],
  ...over,
});
const nobody = `0x${'0'.repeat(40)}`;
const opening = 5_000_000_000n;

function grounds(source: readonly Shown[], there: readonly Shown[]): readonly Ground[] {
  const [ethereum, onBaseGround] = shown;
  const sum = (all: readonly Shown[], of: string) =>
    all
      .flatMap(({ changes }) => changes)
      .filter(({ asset }) => asset === of)
      .reduce((total, { amount }) => total + amount, 0n);
  const token = baseUsdc.token.address;
  const { coin = 0n, [token]: held = 0n } = onBaseGround.holds;
  const fees = (all: readonly Shown[]) => all.reduce((total, each) => total + (each.outgoing ? each.fee : 0n), 0n);
  return [
    ethereum,
    {
      ...onBaseGround,
      transactions: [...onBaseGround.transactions, ...source],
      holds: { [token]: held + sum(source, token), coin: coin - fees(source) },
    },
    {
      ...{ chainId: 1500, account, transactions: there },
      holds: { [stellarUsdc.address]: opening + sum(there, stellarUsdc.address), coin: 1_000_000n - fees(there) },
    },
  ];
}

const logOf = (order: typeof into): readonly Said[] => [
  ...honest,
  ...books(1500, { [stellarUsdc.address]: String(opening), coin: '1000000' }, account),
  ...on(stream, ...lifeOf(order)),
];
const burnHash = burnAttempt(into).hash;
const mintHash = mintAttempt(into).hash;
const sent = { ...block(300), nonce: 21n };
const intoGrounds = (mint = onStellar(mintHash, 1_000_000_000n, stellarCctp.forwarder)) =>
  grounds([onBase(moved(burnHash, 300, '-100.00', into.route.minter, sent))], [mint]);
const tell = async (log: readonly Said[], there: readonly Ground[]) =>
  pointed(await audit({ log: written(log), grounds: there }));

describe('the audit of rebalances with Stellar', () => {
  it('finds nothing in honest moves in both directions', async () => {
    assert.deepEqual(await tell(logOf(into), intoGrounds()), []);
    const burn = onStellar(burnHash, -1_000_000_000n, stellarCctp.messenger);
    const mint = onBase(moved(mintHash, 300, '100.00', nobody, { ...sent, outgoing: true, fee: gas }));
    assert.deepEqual(await tell(logOf(outOf), grounds([mint], [burn])), []);
  });

  it('finds a message that forwards to somebody else, or that names another recipient or caller', async () => {
    for (const change of [
      { mintRecipient: '11'.repeat(32) },
      { destinationCaller: '00'.repeat(32) },
      { hookData: `${'00'.repeat(28)}00000038${Buffer.from(thief).toString('hex')}` },
    ]) {
      const log = instead([...logOf(into)], stream, 'BurnAttested', () => ({ message: messageOf(into, change) }));
      assert.deepEqual(await tell(log, intoGrounds()), [`mintForged ${stream} 3`], Object.keys(change).join());
    }
  });

  it('finds money that is minted for an account that is none of the treasury’s', async () => {
    const stolen = move({ ...into, to: { ...stellar, account: thief } });
    const events = lifeOf(stolen).map((event) =>
      event.type === 'MintSigned' ? { ...event, data: { ...event.data, account } } : event,
    );
    const log = [...logOf(into).filter((each) => each.stream !== stream), ...on(stream, ...events)];
    const found = await tell(log, intoGrounds(onStellar(mintHash, 0n, thief, { changes: [] })));
    assert.ok(
      found.some((each) => each.startsWith('outflowElsewhere') && each.includes(stream)),
      found.join(),
    );
  });

  it('finds a mint of less than was burned, and one that the chain does not have', async () => {
    const less = instead([...logOf(into)], stream, 'MintConfirmed', () => ({ received: '999999990' }));
    const short = await tell(less, intoGrounds(onStellar(mintHash, 999_999_990n, stellarCctp.forwarder)));
    assert.ok(short.includes(`transitOpen ${stream} 5`), short.join());
    const [ethereum, onBaseGround, there] = intoGrounds() as [Ground, Ground, Ground];
    const none = { ...there, transactions: [], holds: { [stellarUsdc.address]: opening, coin: 1_000_000n } };
    const missing = await tell(logOf(into), [ethereum, onBaseGround, none]);
    assert.ok(
      missing.some((each) => each.startsWith('settlementForged') && each.includes(stream)),
      missing.join(),
    );
  });

  it('finds nothing while the money is in transit', async () => {
    const log = without([...logOf(into)], stream, 'BurnAttested', 'MintSigned', 'MintConfirmed');
    const [ethereum, onBaseGround, there] = intoGrounds() as [Ground, Ground, Ground];
    const none = { ...there, transactions: [], holds: { [stellarUsdc.address]: opening, coin: 1_000_000n } };
    assert.deepEqual(await tell(log, [ethereum, onBaseGround, none]), []);
  });
});
