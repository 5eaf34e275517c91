/** Model of the pages of a payment. */
import type { WalletOffer } from '../../commands/payerTransactions.ts';
import type { Situation } from '../../domain/payment/situation.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import type { NetworkOf } from '../../src/api/networks.ts';
import type { FormState } from '../parts/field.ts';
import type { Mode } from '../parts/frame.ts';
import type { Say } from './language.ts';

/** Receiver of the payment, from its profile. */
export interface Shop {
  /** Null for a profile without a name. */
  readonly name: string | null;
  /** URL of our copy. */
  readonly logoUrl: string | null;
  /** `#rrggbb` */
  readonly colour: string | null;
  /** An e-mail address or an https URL. */
  readonly supportContact: string | null;
  /** Filled-in URL that the payer returns to. */
  readonly returnUrl: string | null;
}

export interface Around {
  readonly say: Say;
  readonly mode: Mode;
  /** Path of the page itself: `/pay/<secret>`. */
  readonly path: string;
}

export interface PayModel extends Around {
  readonly facts: PayerFacts;
  readonly shop: Shop;
  /** Origins that may frame the page. */
  readonly sites: readonly string[];
  /** Opens a wallet with the amount still due; null without such a link. */
  readonly walletLink: string | null;
  /** Facts that a wallet in the payer's browser needs to pay the amount due; null where it cannot pay. */
  readonly walletOffer: WalletOffer | null;
  /** True if the payer can pay by signing alone, and the operator pays the gas. */
  readonly gasFree: boolean;
  /** URL of the page, for links that open it elsewhere. */
  readonly url: string;
  readonly networkOf: NetworkOf;
  /** Sum that the payer wants to pay if any amount is accepted, as the page's address states it. */
  readonly wanted: FormState;
  /** True if the payer's last choice was refused. */
  readonly refused: boolean;
  /** The reusable link that created it, once the payer may want to pay again; null otherwise. */
  readonly madeWith: { readonly path: string; readonly closed: boolean } | null;
}

/** Parts of the model for naming the shop. */
export type Said = Pick<PayModel, 'say' | 'shop'>;

/** True if the payment ended unpaid. */
export const endedUnpaid = ({ kind }: Situation): boolean => ['expired', 'late', 'tooLow'].includes(kind);

/** True if the merchant bears the fee: the buyer pays the price, and no page mentions the fee. */
export const isFeeOfMerchant = ({ type }: Pick<PaymentView, 'type'>): boolean => type === 'exactIn';

/** The shop in the middle of a sentence. */
export const shopName = ({ shop, say }: Said): string => shop.name ?? say.text('merchant');
