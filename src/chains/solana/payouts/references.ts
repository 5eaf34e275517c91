/** The references that payouts bear. Anybody can name a key in a transaction: what nobody can guess, nobody names beforehand. */
import { createHmac } from 'node:crypto';
import { assert } from '../../../../domain/decider.ts';
import type { TransferOrder } from '../../ports.ts';
import { PublicKey } from '../web3.ts';
import { referenceOf } from './transaction.ts';

/** @throws Error for an order that says not what it is for */
export type PayoutReference = (order: Pick<TransferOrder, 'reference' | 'referenceOrdinal'>) => string;

/**
 * With an ordinal, an HMAC-SHA256 of what the transfer is for: unknown to others until its transaction was sent, and another one after
 * each transaction that the chain has seen. Without one, the public reference of payments that were created before there were secret ones.
 * @param key null on an instance that prepares nothing
 */
export const createPayoutReference =
  (key: Uint8Array | null): PayoutReference =>
  ({ reference, referenceOrdinal }) => {
    assert(reference !== undefined, 'a transfer on Solana says what it is for');
    if (referenceOrdinal === undefined) return referenceOf('payout', reference);
    assert(key !== null, 'payouts are prepared where the seed is');
    const purpose = `payment-intents/solana-reference-2/payout/${referenceOrdinal}/${reference}`;
    return new PublicKey(createHmac('sha256', key).update(purpose).digest()).toBase58();
  };
