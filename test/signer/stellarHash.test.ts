/** Stellar nodes accept a hash in capital letters; a payin still has one identity. */
import assert from 'node:assert/strict';
import { Memo } from '@stellar/stellar-sdk';
import { transferOf } from '../../commands/chainPorts.ts';
import { PayoutBlocked, SigningRefused, type TransferOrder } from '../../commands/transferPorts.ts';
import { type Transfer, transferId } from '../../domain/payment/events.ts';
import { createStellarIngester } from '../../src/chains/stellar/payins/ingester.ts';
import { type Behaviour, startProxy } from '../chains/proxy.ts';
import { type StellarWorld, scanned, stellarWorld } from '../chains/stellar/world.ts';
import * as p from '../support/payments.ts';
import { forgedLog } from './forgedLog.ts';

const { signal } = new AbortController();
const memo = 'memo';

/** Decodes hexadecimal digits of both cases, as stellar-rpc does. */
const asStellarRpc: Behaviour = async (method, params, forward) => {
  const { hash, ...rest } = params as { hash?: string };
  return forward(method, hash === undefined ? params : ({ ...rest, hash: hash.toLowerCase() } as never));
};

/** The transfer with the first n letters of its hash in capitals. */
function inCapitals(transfer: Transfer, n: number): Transfer {
  let left = n;
  const capital = (letter: string) => {
    left -= 1;
    return left >= 0 ? letter.toUpperCase() : letter;
  };
  return { ...transfer, txHash: transfer.txHash.replace(/[a-f]/g, capital) };
}

describe('a payin on Stellar with another spelling of its hash', () => {
  let world: StellarWorld;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let came: Transfer;
  before(async () => {
    world = await stellarWorld();
    const from = world.here();
    proxy = await startProxy(world.stellar.rpcUrl, asStellarRpc);
    await world.send('10', Memo.text(memo));
    const [log] = (await scanned(world.config([world.stellar.rpcUrl]), from)).logs;
    assert.ok(log);
    came = transferOf(1500, log);
  });
  after(() => world?.lab.stop());

  it('is another transfer for its nodes, and its lookup returns the ledger’s spelling', async () => {
    const ingester = createStellarIngester(world.config([proxy.url]));
    const stake = { pass: 'final', usd: 10n } as const;
    assert.equal((await ingester.agreed(came, stake, signal)).agreed, true);
    assert.equal((await ingester.agreed(inCapitals(came, 3), stake, signal)).agreed, false);
    const [found] = await ingester.lookUp(inCapitals(came, 5).txHash, signal);
    assert.equal(found?.txHash, came.txHash);
  });

  it('pays for only one payment', async () => {
    const world1500 = forgedLog(new Map([[1500, createStellarIngester(world.config([proxy.url]))]]));
    const [created] = [p.created({ from: p.stellarUsdc })];
    assert.ok(created?.type === 'PaymentCreated');
    const deposit = { ...created.data.deposit, address: came.to, memo };
    const payins = Array.from({ length: 10 }, (_, n) => inCapitals(came, n));
    const received = { received: '100.00', sourceAmount: '100.00', fee: '0.01', payout: '99.99' };
    const requested = p.payoutRequested('99.99');
    await world1500.appendToPayment([
      p.event('PaymentCreated', { ...created.data, deposit }),
      ...payins.flatMap((transfer) => [p.detected(transfer), p.confirmed(transfer)]),
      p.funded(payins, { source: p.stellarUsdc, ...received }),
      requested,
    ]);
    assert.equal(new Set(payins.map(transferId)).size, 10);
    const { chainId, token, receiverAddress: receiver } = requested.data;
    const order: TransferOrder = {
      chainId,
      token,
      receiver,
      receiverMemo: null,
      amount: p.of('99.99', p.ethereumUsdc),
    };
    await assert.rejects(
      world1500.sign('payout', p.terms().paymentId, order),
      (error) => error instanceof SigningRefused || error instanceof PayoutBlocked,
    );
  });
});
