/** Vocabulary for payments on Stellar: into the contract, or to the treasury with a memo. */
import { createHash } from 'node:crypto';
import { Account, Keypair, MuxedAccount, StrKey } from '@stellar/stellar-sdk';
import type { DepositScheme } from '../../commands/ports.ts';
import { createPayment, type Terms } from '../../domain/payment/create.ts';
import type { PaymentEvent, Transfer } from '../../domain/payment/events.ts';
import { createStellarDeposits } from '../../src/chains/stellar/deposits/scheme.ts';
import { type PayinSketch, payin, stellarUsdc, type TermsSketch, terms } from './payments.ts';

const seeded = (seed: string): Buffer => createHash('sha256').update(seed).digest();
const account = (name: string): string => Keypair.fromRawEd25519Seed(seeded(name)).publicKey();

export const payer = account('payer');
export const otherPayer = account('another payer');
export const stellarTreasury = account('treasury');
export const stellarReceiver = account('receiver');
export const stellarContract = StrKey.encodeContract(seeded('payin contract'));
export const muxedReceiver = new MuxedAccount(new Account(stellarReceiver, '0'), '7').accountId();
/** A character of it is wrong. */
export const badChecksum = stellarReceiver.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

export const contractDeposit: Terms['deposit'] = {
  scheme: 'test-stellar-1',
  address: stellarTreasury,
  memo: 'memo-of-this-payment',
  contract: stellarContract,
  contractMemo: 'memo-of-this-payment',
  salt: '0x01',
};

/** Terms of a payment into the contract, called by `payer`. */
export function contractTerms(sketch: TermsSketch = {}): Terms {
  const usual = terms({ type: 'anyAmount', ...sketch, from: stellarUsdc });
  return {
    ...usual,
    intent: 'stellar_payin_contracts',
    source: { ...usual.source, senderAddress: payer },
    deposit: contractDeposit,
  };
}

export const contractCreated = (sketch: TermsSketch = {}): PaymentEvent =>
  (createPayment(null, contractTerms(sketch)) as readonly PaymentEvent[])[0] as PaymentEvent;

/** A call of `pay` in the form of its event. */
export const paid = (amount: string, sketch: PayinSketch & { readonly from?: string } = {}): Transfer => ({
  ...payin({ amount, ...sketch, in: stellarUsdc }),
  from: sketch.from ?? payer,
  to: stellarContract,
  memo: contractDeposit.contractMemo,
});

/** The same by a plain transfer to the treasury. */
export const sent = (amount: string, sketch: PayinSketch & { readonly from?: string } = {}): Transfer => ({
  ...paid(amount, sketch),
  to: stellarTreasury,
});

/** As in production; without the contract where the installation has none. */
export const stellarDeposits = (payinContract: string | null = stellarContract): DepositScheme =>
  createStellarDeposits({ treasury: stellarTreasury, payinContract });
