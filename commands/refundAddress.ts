/** A payer sets the refund address by a text signed with the paying key. */
import { type ChainId, chainOf, memoProblem } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { nextNumber, payinsOf, refundText, setRefundAddress } from '../domain/payment/refundAddress.ts';
import { ownersOf } from '../domain/payment/refundOrder.ts';
import type { Payin } from '../domain/payment/sources.ts';
import { type Payment, paymentDecider } from '../domain/payment/state.ts';
import { type By, currentState, type Handle } from './handle.ts';
import {
  type AddressSpelling,
  type Clock,
  type MessageSigners,
  refuseUnavailable,
  type SignedMessage,
  Unavailable,
} from './ports.ts';

export interface RefundAddressDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly addresses: AddressSpelling;
  readonly signers: MessageSigners;
  /** URL of the service, which every text contains. */
  readonly service: () => string;
}

/** Request of the payer. */
export interface RefundAddressRequest {
  /** Account that paid. */
  readonly from: string;
  readonly to: string;
  readonly memo: string | null;
}

/** Text to sign. */
export interface AddressToSign {
  readonly text: string;
  readonly number: number;
  readonly address: string;
  readonly memo: string | null;
  readonly sender: string;
  readonly transferId: string;
  readonly chainId: ChainId;
}

export interface RefundAddresses {
  /** @returns invalidRequest with the field, conflict */
  words(paymentId: string, asked: RefundAddressRequest): Promise<AddressToSign | Refusal>;
  /**
   * Crash before the append: nothing is set, the same signature may be sent again. After it: a repeated request changes nothing.
   * @param number of the signed text
   * @returns besides, invalidRequest for a signature that is not the sender's; unavailable while a contract cannot be queried
   */
  prove(
    paymentId: string,
    asked: RefundAddressRequest,
    signed: { readonly number: number; readonly signature: string },
    by: By,
  ): Promise<AddressToSign | Refusal>;
}

const isSet = ({ refundAddresses }: Payment, text: string): boolean =>
  refundAddresses.some(({ proof }) => proof?.text === text);

const paymentNotFound = refuse('paymentNotFound', 'there is no such payment');

export function createRefundAddresses({
  handle,
  clock,
  addresses,
  signers,
  service,
}: RefundAddressDeps): RefundAddresses {
  return { words, prove };

  async function words(paymentId: string, asked: RefundAddressRequest): Promise<AddressToSign | Refusal> {
    const payment = await currentState(handle, paymentDecider, paymentId);
    return payment ? wordsOf(payment, asked) : paymentNotFound;
  }

  async function prove(...[paymentId, asked, { number, signature }, by]: Parameters<RefundAddresses['prove']>) {
    const payment = await currentState(handle, paymentDecider, paymentId);
    if (!payment) return paymentNotFound;
    const toSign = wordsOf(payment, asked, number);
    if (isRefusal(toSign)) return toSign;
    const { text, address, memo, sender, transferId } = toSign;
    if (!isSet(payment, text) && number !== nextNumber(payment, sender)) return outdated;
    const signed = await signedBy(toSign, { text, signature });
    if (signed === null) return notSigned;
    if (typeof signed === 'object') return signed;
    const proof = { sender, transferId, by: signed, text, signature };
    const handled = await handle(
      paymentDecider,
      paymentId,
      (state) => setRefundAddress(state, { address, memo, number, proof, now: clock.now() }),
      { ...by, appId: payment.terms.appId },
    );
    return isRefusal(handled) ? handled : toSign;
  }

  /** @param stated number of a signed text, by which an address that is set already is found */
  function wordsOf(payment: Payment, asked: RefundAddressRequest, stated?: number): AddressToSign | Refusal {
    const sender = signers.canonical(asked.from);
    const payins = sender === null ? [] : payinsOf(payment, sender);
    const unproven = ownersOf(payment).find((own) => own.sender === sender && own.receiver === null);
    const next = payins.find(({ transfer }) => transfer.chainId === unproven?.chainId) ?? payins[0];
    if (sender === null || !next)
      return refuse('invalidRequest', 'must be an account that paid this payment and can sign', '/from');
    const number = stated ?? nextNumber(payment, sender);
    const words = [next, ...payins].map((payin) => wordsFor(payment, payin, { ...asked, from: sender }, number));
    return words.find((each) => !isRefusal(each) && isSet(payment, each.text)) ?? words[0] ?? paymentNotFound;
  }

  /** @param asked with the sender in the chain's spelling */
  function wordsFor(
    payment: Payment,
    payin: Payin,
    { from: sender, to, memo }: RefundAddressRequest,
    number: number,
  ): AddressToSign | Refusal {
    const { chainId } = payin.transfer;
    const chain = chainOf(chainId);
    const address = addresses.canonical(chain, to);
    if (address === null) return refuse('invalidRequest', `must be an address on ${chain.name}`, '/to');
    const problem = memo === null ? undefined : memoProblem(chain, address, memo);
    if (problem) return refuse('invalidRequest', problem, '/memo');
    const { paymentId } = payment.terms;
    const text = refundText({ service: service(), paymentId, chain: chain.name, sender, address, memo, number });
    return { text, number, address, memo, sender, transferId: payin.id, chainId };
  }

  /** Null if the signature is invalid; a refusal while a contract cannot be queried. */
  async function signedBy({ sender, chainId }: AddressToSign, message: SignedMessage) {
    try {
      if (await signers.isSignedBy(sender, message)) return 'key' as const;
      return (await signers.isAcceptedBy(sender, message, [chainId])) ? ('contract' as const) : null;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return refuseUnavailable(error);
    }
  }
}

const notSigned = refuse(
  'invalidRequest',
  'is not this text’s, signed with the key of the account that paid',
  '/signature',
);
const outdated = refuse('conflict', 'another address was set in the meantime: sign the new text');
