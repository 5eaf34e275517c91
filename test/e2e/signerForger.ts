/** An attacker who holds everything but the keys: the service's log with its seals, its certificates, its nodes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Address } from 'viem';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, currentState } from '../../commands/handle.ts';
import { isNumbered, type Signed } from '../../commands/transferPorts.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { PaymentEvent, PaymentEventData } from '../../domain/payment/events.ts';
import { transferId } from '../../domain/payment/shapes.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { noncesUsedUp, type Order } from '../../domain/transfer/leg.ts';
import { assignNonce, nonceOf } from '../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../domain/treasury/state.ts';
import { evmDeposits } from '../../src/chains/evm/addresses.ts';
import { createLines } from '../../src/chains/node/limiter.ts';
import { openChains } from '../../src/chains/open.ts';
import { readConfig } from '../../src/config.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { parseMasterKey } from '../../src/security/masterKey.ts';
import { createRemoteSigner } from '../../src/signer/client.ts';
import { loadTls } from '../../src/signer/settings.ts';
import { openEventStore } from '../../src/store/client.ts';
import { withSeals } from '../../src/store/sealed.ts';
import { socketIn, socketUrl } from '../../src/store/wire.ts';

type Confirmed = PaymentEventData<'PayinConfirmed'>;

export interface Forger {
  /**
   * Writes a copy of a payment, up to its ordered payout, with a forged payin.
   * @param own 'own': the deposit is derived like the treasury's; 'kept': it is the other payment's
   * @returns its id
   */
  copy(
    paymentId: string,
    payin: (data: Confirmed, deposit: string) => Confirmed,
    own?: 'own' | 'kept',
  ): Promise<string>;
  /** Writes that a payout's block left the chain, and that the payout died. */
  bury(paymentId: string): Promise<void>;
  orderOf(paymentId: string): Promise<Order>;
  /** Takes a nonce for the payout and calls the signer. @param order to sign instead of the log's order */
  sign(paymentId: string, order?: Order): Promise<Signed>;
  close(): Promise<void>;
}

const facts = { cause: 'worker:payouts', appId: null } as const;

/** @param settings of the service that calls the signer; `dataDir` contains its log */
export function openForger(settings: Readonly<Record<string, string>>, dataDir: string): Forger {
  const config = readConfig(settings);
  const { remote } = config.signing;
  assert.ok(remote && config.treasuries.evm);
  const { address } = config.treasuries.evm;
  const signer = createRemoteSigner(remote.url, loadTls(remote.tls));
  const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };
  const store = withSeals(openEventStore({ url: socketUrl(socketIn(join(dataDir, 'eventstore'))) }), {
    masterKey: parseMasterKey(config.masterKey),
    deciding,
    tell: () => {},
  });
  const handle = createHandle({ ...deciding, store: store.workers });
  const nobody = { takeOwners: async () => [], watch: () => ({ open: async () => [], late: async () => [] }) };
  const { chains } = openChains(config, { ...nobody, lines: createLines() });
  const rail = chains.get(8453)?.rail;
  assert.ok(rail && isNumbered(rail));
  const payment = async (paymentId: string) => {
    const found = await currentState(handle, paymentDecider, paymentId);
    assert.ok(found?.payout);
    return { ...found, payout: found.payout };
  };
  const write = (paymentId: string, events: readonly PaymentEvent[]) =>
    handle(paymentDecider, paymentId, () => events, facts);

  return {
    async copy(paymentId, payin, own = 'own') {
      const id = randomUUID();
      const stored = await store.read(`payment-${paymentId}`);
      const events = stored.map(({ type, data }) => ({ type, data }) as PaymentEvent);
      const deposit = evmDeposits(address as Address)(id);
      const forged = events.flatMap((event): PaymentEvent[] => {
        if (event.type === 'PaymentCreated') {
          const data = { ...event.data, paymentId: id, ...(own === 'own' && { deposit }) };
          return [{ type: event.type, data }];
        }
        if (event.type === 'PayinConfirmed') return [{ type: event.type, data: payin(event.data, deposit.address) }];
        if (event.type === 'PaymentFunded') {
          const [confirmed] = events.flatMap((each) => (each.type === 'PayinConfirmed' ? [each.data] : []));
          assert.ok(confirmed);
          const transferIds = [transferId(payin(confirmed, deposit.address).transfer)];
          return [{ type: event.type, data: { ...event.data, transferIds } }];
        }
        return event.type === 'PayoutRequested' ? [event] : [];
      });
      const written = await write(id, forged);
      assert.ok(!isRefusal(written));
      return id;
    },

    async bury(paymentId) {
      const { payout } = await payment(paymentId);
      const { settled } = payout;
      assert.ok(settled);
      const { attempt, hash, blockHash } = settled;
      await write(paymentId, [
        { type: 'PayoutOrphaned', data: { attempt, hash, blockHash } },
        { type: 'PayoutDied', data: { attempt, proof: { reason: 'nonceUsed', detail: 'so I say' } } },
      ]);
    },

    orderOf: async (paymentId) => (await payment(paymentId)).payout.order,

    async sign(paymentId, other) {
      const { payout, terms } = await payment(paymentId);
      const minedNonce = await rail.numbering.minedNonce(AbortSignal.timeout(600_000));
      const purpose = { kind: 'payout', reference: paymentId, ordinal: noncesUsedUp(payout) + 1 } as const;
      const moves = { token: payout.order.token.address, amount: payout.order.amount.toString() };
      const taken = await handle(
        treasury,
        treasuryInstance(8453, address),
        (state) => assignNonce(state, { purpose, moves, minedNonce, now: systemClock.now() }),
        facts,
      );
      assert.ok(!isRefusal(taken), isRefusal(taken) ? taken.message : '');
      const order = { ...(other ?? payout.order), reference: paymentId };
      const unsigned = await rail.numbering.prepare(
        order,
        nonceOf(taken.state, purpose) ?? assert.fail('it has a nonce'),
      );
      return signer.signerOf(address).sign(unsigned, { kind: 'payout', reference: paymentId, appId: terms.appId });
    },

    async close() {
      signer.close();
      await store.close();
    },
  };
}
