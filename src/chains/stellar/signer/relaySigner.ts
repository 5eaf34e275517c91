/** The relay account's key on Stellar. It sends payers' authorization entries, and moves nothing of ours. */
import { FeeBumpTransaction, Keypair, type Transaction } from '@stellar/stellar-sdk';
import { isListed } from '../../../../domain/chains.ts';
import { type Signer, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../../ports.ts';
import { callOf, entryIn, isEntryOrder, isSignedByPayer, muxedOf, transferIn } from '../authorization.ts';
import { type StellarConfig, stellarChainId } from '../config.ts';
import { numberIn } from '../deposits/scheme.ts';
import type { StellarPayload } from '../payouts/transaction.ts';
import { assetContractOf } from '../tokens.ts';
import {
  checkFee,
  checkStellarFrame,
  checkValidity,
  doesNothing,
  mismatch,
  operationOf,
  parse,
  type StellarSignerDeps,
  withSignatures,
} from './signer.ts';

export interface StellarRelaySignerDeps extends Omit<StellarSignerDeps, 'channelSecrets' | 'config'> {
  readonly config: Pick<StellarConfig, 'networkPassphrase' | 'fees' | 'treasury'>;
}

/**
 * Signs calls of a catalogue token's `transfer` that the payer's entry alone authorizes, to the treasury with a payment's memo, their fee
 * bumps, and cancels; nothing else.
 */
export function createStellarRelaySigner({ secret, config, clock, spending }: StellarRelaySignerDeps): Signer {
  const key = Keypair.fromSecret(secret);
  const account = key.publicKey();
  const { networkPassphrase, fees, treasury } = config;
  const own = { account, channels: new Map<string, Keypair>() };

  function examine(unsigned: Unsigned, purpose: SigningPurpose) {
    if (unsigned.chainId !== stellarChainId || unsigned.order.chainId !== stellarChainId)
      throw new SigningRefused('chain', `this key does not sign for chain ${unsigned.chainId}`);
    const whole = parse((unsigned.payload as StellarPayload).envelope, networkPassphrase, purpose);
    const inner = whole instanceof FeeBumpTransaction ? whole.innerTransaction : whole;
    checkStellarFrame(unsigned, whole, inner, own);
    checkFee(whole, inner, fees);
    if (inner.memo.value !== null) throw mismatch(purpose);
    if (purpose.kind === 'cancel') {
      if (!doesNothing(operationOf(inner, purpose))) throw mismatch(purpose);
    } else if (purpose.kind === 'relay') {
      checkRelay(inner, unsigned.order, purpose);
      checkValidity(inner, unsigned, purpose, clock.now());
    } else throw new SigningRefused('mismatch', `the relay account makes no ${purpose.kind}: it relays`);
    return { whole, count: spending(unsigned, purpose, BigInt(whole.fee)) };
  }

  function checkRelay(inner: Transaction, order: TransferOrder, purpose: SigningPurpose): void {
    const { token, receiver, receiverMemo, amount } = order;
    const entry = isEntryOrder(order) ? entryIn(order.form.signature) : null;
    const transfer = entry && transferIn(entry);
    const same =
      isEntryOrder(order) &&
      entry !== null &&
      transfer !== null &&
      isListed({ chainId: stellarChainId, token }) &&
      amount > 0n &&
      receiverMemo === null &&
      isDeposit(order.form.deposit, treasury) &&
      receiver === muxedOf(treasury, order.form.deposit.memo) &&
      transfer.contract === assetContractOf(token, networkPassphrase) &&
      transfer.from === order.form.payer &&
      ![account, treasury].includes(transfer.from) &&
      transfer.to === receiver &&
      transfer.amount === amount &&
      operationOf(inner, purpose).toXDR().equals(callOf(order).toXDR()) &&
      // An entry that the payer did not sign would fail, and cost the fee.
      isSignedByPayer(entry, networkPassphrase);
    if (!same)
      throw new SigningRefused(
        'mismatch',
        'a relay calls a catalogue token with an entry of its payer alone, to the treasury with the memo of a payment',
      );
  }

  return {
    account,
    check: (unsigned, purpose) => void examine(unsigned, purpose),
    async sign(unsigned, purpose) {
      const { whole: examined, count } = examine(unsigned, purpose);
      count();
      const whole = withSignatures(examined, networkPassphrase, { key, channels: own.channels });
      return { bytes: whole.toEnvelope().toXDR('base64'), hash: whole.hash().toString('hex') };
    },
  };
}

interface NamedDeposit {
  readonly address: string;
  readonly salt: string;
  readonly memo: string;
}

/** The memo is that of its salt: no memo of a customer of another system at the treasury's address. */
const isDeposit = ({ address, salt, memo }: NamedDeposit, treasury: string): boolean =>
  address === treasury && /^[0-9a-f]{64}$/.test(salt) && numberIn(Buffer.from(salt, 'hex')) === memo;
