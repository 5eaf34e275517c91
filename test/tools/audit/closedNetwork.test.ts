import assert from 'node:assert/strict';
import { closedNetworkLines } from '../../../tools/audit/report.ts';
import {
  attempt,
  confirmed,
  created,
  digits,
  funded,
  hashOf,
  minute,
  payoutRequested,
  settled,
  signed,
  treasuryAccount,
} from '../../support/payments.ts';
import { books, createdAs, honest, on, paymentA, shown, treasuryStream, usdc, withCost } from './honest.ts';
import { audit, type Ground, pointed, type Said, told, written } from './world.ts';

const closedBooks = on(`books-1-${treasuryAccount}`, {
  type: 'BooksNetworkClosed',
  data: {
    ...{ reason: 'networkBegunAnew', network: 'old network' },
    last: { blockNumber: '10', blockHash: hashOf('block', 10), balances: {} },
    ...{ payinAddresses: [], closedAt: minute(20) },
  },
});
const fresh = { [usdc.address]: digits('5.00'), coin: '300' };
const begunAnew: readonly Said[] = [...honest, ...closedBooks, ...books(1, fresh)];
/** The treasury's chain has none of the old transactions. */
const [, base] = shown;
const emptied: readonly Ground[] = [
  { chainId: 1, transactions: [], holds: { [usdc.address]: BigInt(digits('5.00')), coin: 300n } },
  base,
];

describe('the audit of a chain whose network was restarted', () => {
  const report = (said: readonly Said[], grounds: readonly Ground[] = emptied) =>
    audit({ log: written(said), grounds });

  it('finds payouts of the old network missing as long as its books are not closed', async () => {
    const found = pointed(await report([...honest]));
    assert.ok(
      found.some((each) => each.startsWith('settlementForged payment-')),
      found.join(),
    );
    assert.ok(
      found.some((each) => each.startsWith('booksOpen books-1-')),
      found.join(),
    );
  });

  it('searches no transaction of a closed network, and counts them', async () => {
    const found = await report(begunAnew);
    assert.deepEqual(told(found), []);
    const [network] = found.closedNetworks;
    assert.deepEqual(
      [network?.chainId, network?.reason, network?.network, network?.unseen],
      [1, 'networkBegunAnew', 'old network', 3],
    );
    assert.match(
      closedNetworkLines(found).join('\n'),
      /^Ethereum: the network “old network” was closed at .* because it began anew. 3 recorded transactions/,
    );
  });

  it('counts the new books from their own opening', async () => {
    const { accounts } = await report(begunAnew);
    const own = accounts.filter(({ chainId }) => chainId === 1);
    assert.deepEqual(
      own.map(({ opening, holds, open }) => [opening, holds, open]),
      [
        [300n, 300n, 0n],
        [5_000_000n, 5_000_000n, 0n],
      ],
    );
  });

  it('still finds a payout forged that was recorded on the new network', async () => {
    const forged = 'payment-0198f3c2-0000-8000-8000-0000000000cc';
    const paid = attempt(1, { nonce: '11' });
    const said = [
      ...begunAnew,
      ...on(forged, createdAs(forged), confirmed(), funded(), payoutRequested(), signed(paid), withCost(settled(paid))),
    ];
    const found = pointed(await report(said));
    assert.ok(found.includes(`settlementForged ${forged} 4`), found.join());
  });

  it('names the unsettled transfers of the old network', async () => {
    const open = 'payment-0198f3c2-0000-8000-8000-0000000000dd';
    const { data } = created();
    const inFlight = on(
      open,
      { type: 'PaymentCreated', data: { ...data, paymentId: open.slice('payment-'.length) } },
      confirmed(),
      funded(),
      payoutRequested(),
      signed(attempt(1, { nonce: '11' })),
    );
    const { closedNetworks } = await report([...honest, ...inFlight, ...closedBooks, ...books(1, fresh)]);
    assert.deepEqual(
      closedNetworks.flatMap(({ unsettled }) => unsettled.map(({ stream, what }) => `${stream}: ${what}`)),
      [`${open}: its payout is not settled`],
    );
  });

  it('lets a nonce be assigned once on each network', async () => {
    const assigned = {
      type: 'NonceAssigned',
      data: {
        nonce: '7',
        purpose: { kind: 'payout', reference: paymentA.slice('payment-'.length), ordinal: 1 },
        assignedAt: minute(3),
      },
    };
    const closed = {
      type: 'TreasuryNetworkClosed',
      data: { reason: 'networkBegunAnew', network: null, closedAt: minute(20) },
    };
    assert.deepEqual(told(await report([...begunAnew, ...on(treasuryStream, assigned, closed, assigned)])), []);
  });

  it('states that books are not open again if the service has not opened them yet', async () => {
    const { gaps } = await report([...honest, ...closedBooks]);
    const why = gaps.find(({ of }) => of.endsWith('on chain 1'))?.why ?? '';
    assert.match(why, /closed when its network began anew/);
  });
});
