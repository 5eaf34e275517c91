/** Buyers with keys and credit, and the real command on a log in memory. */

import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair } from '@stellar/stellar-sdk';
import { privateKeyToAccount } from 'viem/accounts';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, currentState } from '../../commands/handle.ts';
import { createPayByCredit } from '../../commands/payByCredit.ts';
import type { Clock, EventStore } from '../../commands/ports.ts';
import { credit, earn, messageText } from '../../domain/credit.ts';
import { assert } from '../../domain/decider.ts';
import type { CashbackDeps } from '../../src/api/routes/cashback.ts';
import { createMessageSigners } from '../../src/chains/messages.ts';
import { randomIds } from '../../src/process/system.ts';
import { keyOf } from './anvil.ts';
import { memoryEventStore } from './memoryEventStore.ts';

export interface Buyer {
  readonly address: string;
  sign(text: string): Promise<string>;
}

/** A buyer of each family, of a number. */
export const buyers = {
  evm(n: number): Buyer {
    const account = privateKeyToAccount(keyOf(9_000 + n));
    return { address: account.address, sign: (message) => account.signMessage({ message }) };
  },
  solana(n: number): Buyer {
    const keys = seeded('solana', n);
    return {
      address: base58.encode(keys.rawPublicKey()),
      sign: async (text) => base58.encode(keys.sign(Buffer.from(text))),
    };
  },
  stellar(n: number): Buyer {
    const keys = seeded('stellar', n);
    const digestOf = (text: string) => createHash('sha256').update(`Stellar Signed Message:\n${text}`).digest();
    return { address: keys.publicKey(), sign: async (text) => keys.sign(digestOf(text)).toString('base64') };
  },
} as const;

const seeded = (family: string, n: number) =>
  Keypair.fromRawEd25519Seed(createHash('sha256').update(`${family} ${n}`).digest());

/** A posted request; fields may be missing or wrong. */
export type Body = Readonly<Record<string, unknown>>;

/** The whole body that the buyer posts to a service. */
export async function signedBody(buyer: Buyer, service: string, fields: Body): Promise<Body> {
  const body: Body = { from_address: buyer.address, ...fields };
  const optional = <T>(name: string) => (body[name] ?? null) as T | null;
  const text = messageText({
    service,
    fromAddress: buyer.address,
    toHandle: String(body['to_handle']),
    amountUsdCents: Number(body['amount_usd_cents']),
    timestamp_ms: Number(body['timestamp']),
    amountLocal: optional('amount_local'),
    currencyLocal: optional('currency_local'),
    orderId: optional('order_id'),
    about: optional('about'),
  });
  return { ...body, signature: await buyer.sign(text) };
}

export interface CreditWorld {
  readonly store: EventStore;
  readonly deps: CashbackDeps;
  give(address: string, cents: bigint, chainId?: 8453 | 1): Promise<void>;
  balance_cents(address: string): Promise<bigint>;
  /** Number of CreditSpent events of an account. */
  spendings(address: string): Promise<number>;
}

/** @param chains with contract signatures. Default: none */
export function createCreditWorld(
  clock: Clock,
  service: () => string,
  path = '',
  chains: Parameters<typeof createMessageSigners>[0] = new Map(),
): CreditWorld {
  const store = memoryEventStore();
  const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec });
  let given = 0;
  return {
    store,
    deps: {
      path,
      pay: createPayByCredit({
        handle,
        clock,
        service,
        signers: createMessageSigners(chains),
        isCurrency: (code) => ['EUR', 'USD', 'JPY'].includes(code),
      }),
      movements: async () => [],
      of: async () => ({ balance_cents: 0, received_cents: 0, withdrawn_cents: 0, received: 0, payments: [] }),
    },
    async give(account, cents, chainId = 8453) {
      given += 1;
      const earning = {
        account,
        paymentId: `payment-${given}`,
        appId: 'merchant_demo',
        chainId,
        basisPoints: 100,
        cents,
      };
      await handle(credit, account, (state) => earn(state, earning, clock.now()), {
        cause: 'worker:test',
        appId: null,
      });
    },
    balance_cents: async (account) => (await currentState(handle, credit, account)).balance_cents,
    async spendings(account) {
      const events = await store.read(`credit-${account}`);
      assert(events.length < 4_000, 'all of them are read');
      return events.filter(({ type }) => type === 'CreditSpent').length;
    },
  };
}
