/** Rebalances to and from Solana: the audit compares both chains with the log, in their own accounts and with their rent. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import { address32, addressing } from '../../../domain/rebalance/burnMessage.ts';
import { domainOf, routeContracts, solanaCctp, standard } from '../../../domain/rebalance/cctp.ts';
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
const account = 'GHhb4dH6XUFuJ2LLvw6JS6jkMaVNi6TzC6VJhU2gBRLw';
const thief = '7XP9fU1g13neWdSgw39SJCs8iNoTwNgZBtiCaJqHxcyv';
const solanaUsdc = { symbol: 'USDC', address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6 } as const;
const base = { chainId: 8453, account: treasuryAccount, token: baseUsdc.token } as const;
const solana = { chainId: 501, account, token: solanaUsdc } as const;
const route = (from: 8453 | 501, to: 8453 | 501) => ({
  ...{ kind: 'cctp' as const, sourceDomain: domainOf(from), destinationDomain: domainOf(to) },
  ...{ ...routeContracts(from, to), finality: standard as typeof standard, feeMax: '100000' },
});
/** 100 USDC in each direction. */
const into = move({ from: base, to: solana, amount: '100000000', route: route(8453, 501) });
const outOf = move({ from: solana, to: base, amount: '100000000', route: route(501, 8453) });

const nonceOn = (chainId: number) => (chainId === 501 ? null : '21');
/** The account of the message, and the account of the nonce. */
const rents = { burn: 3_869_760n, mint: 953_520n };

function lifeOf(order: typeof into): readonly DomainEvent[] {
  const costed = (event: DomainEvent, chainId: number, rent: bigint): DomainEvent =>
    chainId === 501
      ? { ...event, data: { ...event.data, cost: { payer: account, fee: '5000', rent: String(rent) } } }
      : withCost(event);
  const own = { account: order.from.account, nonce: nonceOn(order.from.chainId) };
  const there = { account: order.to.account, nonce: nonceOn(order.to.chainId) };
  return [
    ordered(order),
    { type: 'BurnSigned', data: { ...burnAttempt(order), ...own } } as RebalanceEvent,
    costed(burnConfirmed(), order.from.chainId, rents.burn),
    attested(order),
    { type: 'MintSigned', data: { ...mintAttempt(order), ...there } } as RebalanceEvent,
    costed(mintConfirmed('100000000'), order.to.chainId, rents.mint),
  ].map((event) => ({ ...event, data: 'blockNumber' in event.data ? { ...event.data, ...landedAt } : event.data }));
}
const landedAt = { blockNumber: '300', blockHash: block(300).blockHash };

interface Effect {
  readonly units: bigint;
  readonly rent: bigint;
  readonly counterparty?: string | null;
}
const onSolana = (hash: string, { units, rent, counterparty = null }: Effect, over: Partial<Shown> = {}): Shown => ({
  ...moved(hash, 300, '1.00', account),
  ...{ account, outgoing: true, fee: 5_000n, nonce: null },
  changes: [
    ...(units === 0n ? [] : [{ asset: solanaUsdc.address, amount: units, counterparty }]),
    ...(rent === 0n ? [] : [{ asset: 'coin', amount: -rent, counterparty: null }]),
  ],
  ...over,
});
const nobody = `0x${'0'.repeat(40)}`;
const [opening, lamports] = [5_000_000_000n, 1_000_000_000n];

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
      ...{ chainId: 501, account, transactions: there },
      holds: {
        [solanaUsdc.address]: opening + sum(there, solanaUsdc.address),
        coin: lamports + sum(there, 'coin') - fees(there),
      },
    },
  ];
}

const logOf = (order: typeof into): readonly Said[] => [
  ...honest,
  ...books(501, { [solanaUsdc.address]: String(opening), coin: String(lamports) }, account),
  ...on(stream, ...lifeOf(order)),
];
const burnHash = burnAttempt(into).hash;
const mintHash = mintAttempt(into).hash;
const sent = { ...block(300), nonce: 21n };
const { custodian } = solanaCctp;
const minted = (units = 100_000_000n, counterparty = custodian) =>
  onSolana(mintHash, { units, rent: rents.mint, counterparty });
const burned = (change: Partial<Effect> = {}) =>
  onSolana(burnHash, { units: -100_000_000n, rent: rents.burn, ...change });
const intoGrounds = (mint = minted()) =>
  grounds([onBase(moved(burnHash, 300, '-100.00', into.route.minter, sent))], [mint]);
const outGrounds = (burn = burned()) =>
  grounds([onBase(moved(mintHash, 300, '100.00', nobody, { ...sent, outgoing: true, fee: gas }))], [burn]);
const tell = async (log: readonly Said[], there: readonly Ground[]) =>
  pointed(await audit({ log: written(log), grounds: there }));

describe('the audit of rebalances with Solana', () => {
  it('finds nothing in honest moves in both directions', async () => {
    assert.deepEqual(await tell(logOf(into), intoGrounds()), []);
    assert.deepEqual(await tell(logOf(outOf), outGrounds()), []);
  });

  it('finds a message that names the wallet, somebody’s token account, another sender or a hook', async () => {
    for (const change of [
      { mintRecipient: address32(account) },
      { mintRecipient: addressing(5, thief).mintRecipient },
      { messageSender: '11'.repeat(32) },
      { destinationCaller: '11'.repeat(32) },
      { hookData: `${'00'.repeat(32)}${'61'.repeat(8)}` },
    ]) {
      const log = instead([...logOf(into)], stream, 'BurnAttested', () => ({ message: messageOf(into, change) }));
      assert.deepEqual(await tell(log, intoGrounds()), [`mintForged ${stream} 3`], Object.keys(change).join());
    }
  });

  it('finds a burn on Solana that paid somebody instead, or that took more coin than its message needs', async () => {
    const paid = await tell(logOf(outOf), outGrounds(burned({ counterparty: thief })));
    assert.ok(
      paid.some((each) => each.startsWith('outflowElsewhere') && each.includes(stream)),
      paid.join(),
    );
    const dear = await tell(logOf(outOf), outGrounds(burned({ rent: 500_000_000n })));
    assert.notDeepEqual(dear, []);
  });

  it('finds a mint that the protocol did not pay, of less than was burned, and one that the chain does not have', async () => {
    const elsewhere = await tell(logOf(into), intoGrounds(minted(100_000_000n, thief)));
    assert.ok(elsewhere.length > 0, elsewhere.join());
    const less = instead([...logOf(into)], stream, 'MintConfirmed', () => ({ received: '99999990' }));
    const short = await tell(less, intoGrounds(minted(99_999_990n)));
    assert.ok(short.includes(`transitOpen ${stream} 5`), short.join());
    const [ethereum, onBaseGround, there] = intoGrounds() as [Ground, Ground, Ground];
    const none = { ...there, transactions: [], holds: { [solanaUsdc.address]: opening, coin: lamports } };
    const missing = await tell(logOf(into), [ethereum, onBaseGround, none]);
    assert.ok(
      missing.some((each) => each.startsWith('settlementForged') && each.includes(stream)),
      missing.join(),
    );
  });

  it('finds money that is minted for a wallet that is none of the treasury’s', async () => {
    const stolen = move({ ...into, to: { ...solana, account: thief } });
    const events = lifeOf(stolen).map((event) =>
      event.type === 'MintSigned' ? { ...event, data: { ...event.data, account } } : event,
    );
    const log = [...logOf(into).filter((each) => each.stream !== stream), ...on(stream, ...events)];
    const found = await tell(log, intoGrounds(onSolana(mintHash, { units: 0n, rent: rents.mint })));
    assert.ok(
      found.some((each) => each.startsWith('outflowElsewhere') && each.includes(stream)),
      found.join(),
    );
  });

  it('finds nothing while the money is in transit', async () => {
    const log = without([...logOf(into)], stream, 'BurnAttested', 'MintSigned', 'MintConfirmed');
    const [ethereum, onBaseGround, there] = intoGrounds() as [Ground, Ground, Ground];
    const none = { ...there, transactions: [], holds: { [solanaUsdc.address]: opening, coin: lamports } };
    assert.deepEqual(await tell(log, [ethereum, onBaseGround, none]), []);
  });
});
