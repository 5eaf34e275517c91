/** References of payouts. Anyone can name a key in a transaction, so a reference must not be predictable. */
import { createHmac } from 'node:crypto';
import { assert } from '../../../../domain/decider.ts';
import type { TransferOrder } from '../../ports.ts';
import { PublicKey } from '../web3.ts';
import { publicReferenceOf } from './transaction.ts';

/** @throws Error for an order without its reference */
export type PayoutReference = (order: Pick<TransferOrder, 'reference' | 'referenceOrdinal'>) => string;

/**
 * With an ordinal: an HMAC-SHA256 of the transfer's reference, unknown to others before its transaction, and different after each
 * transaction on the chain. Without one: the public reference of payments created before secret ones.
 * @param key null on an instance that prepares nothing
 */
export const createPayoutReference =
  (key: Uint8Array | null): PayoutReference =>
  ({ reference, referenceOrdinal }) => {
    assert(reference !== undefined, 'a transfer on Solana says what it is for');
    if (referenceOrdinal === undefined) return publicReferenceOf('payout', reference);
    assert(key !== null, 'payouts are prepared where the seed is');
    const purpose = `payment-intents/solana-reference-2/payout/${referenceOrdinal}/${reference}`;
    return new PublicKey(createHmac('sha256', key).update(purpose).digest()).toBase58();
  };
