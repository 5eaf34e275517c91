/** What the pages of a payment are drawn from. */
import type { WalletOffer } from '../../commands/payerTransactions.ts';
import type { Situation } from '../../domain/payment/situation.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import type { Mode } from '../parts/frame.ts';
import type { Say } from './language.ts';

/** Whom it is paid to, as its profile says. */
export interface Shop {
  /** Null for one that has not said. */
  readonly name: string | null;
  /** Ours. */
  readonly logoUrl: string | null;
  /** `#rrggbb` */
  readonly colour: string | null;
  /** An e-mail address or an https URL. */
  readonly supportContact: string | null;
  /** Where the payer goes back to, filled in. */
  readonly returnUrl: string | null;
}

export interface Around {
  readonly say: Say;
  readonly mode: Mode;
  /** Of the page itself: `/pay/<secret>`. */
  readonly path: string;
}

export interface PayModel extends Around {
  readonly facts: PayerFacts;
  readonly shop: Shop;
  /** Origins that may show the page in a frame. */
  readonly sites: readonly string[];
  /** Opens a wallet with what is still to be paid; null where there is no such link. */
  readonly walletLink: string | null;
  /** What a wallet in the payer's browser needs to pay what is still due; null where it cannot. */
  readonly walletOffer: WalletOffer | null;
  /** Of the page itself, for links that open it elsewhere. */
  readonly url: string;
  /** Whether what the payer chose just now cannot be. */
  readonly refused: boolean;
  /** The reusable link that it was made with, once the payer may want to pay again; null else. */
  readonly madeWith: { readonly path: string; readonly closed: boolean } | null;
}

/** What names the shop. */
export type Said = Pick<PayModel, 'say' | 'shop'>;

/** Whether something is to be sent now. */
export const isDue = ({ open, missing, received }: Situation): boolean =>
  open && (missing !== null || received === null);

/** Whether the payment ended, and what it was for is not paid. */
export const endedUnpaid = ({ kind }: Situation): boolean => ['expired', 'late', 'tooLow'].includes(kind);

/** The shop in the middle of a sentence. */
export const shopName = ({ shop, say }: Said): string => shop.name ?? say.text('merchant');
