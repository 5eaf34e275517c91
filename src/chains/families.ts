import type { WalletOffer } from '../../commands/payerTransactions.ts';
import { type Chain, type ChainFamily, chainOf } from '../../domain/chains.ts';
import type { Deposit } from '../../domain/payment/shapes.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Reader } from '../environment/reader.ts';
import { evm } from './evm/index.ts';
import type { Family } from './family.ts';
import type { AddressBook } from './ports.ts';
import { solana } from './solana/index.ts';
import { stellar } from './stellar/index.ts';

/** Every chain family that can be served; the only list of them. */
export const families = { evm, solana, stellar } as const satisfies Readonly<Record<ChainFamily, Family>>;

export const allFamilies: readonly Family[] = Object.values(families);

export const familyOf = ({ family }: Pick<Chain, 'family'>): Family => families[family];

/** Addresses of every chain family, as their chains spell them. */
export const addressBook: AddressBook = {
  canonical: (chain, text) => familyOf(chain).canonicalAddress(chain, text),
};

/** A transaction's identity as its chain spells it, or null when the text is none. */
export const canonicalTxHash = (chain: Chain, text: string): string | null => familyOf(chain).canonicalTxHash(text);

/**
 * What a wallet needs to pay, as a link of its chain's own; null for a payment that has none.
 * @param amount in whole tokens; null leaves it to the payer
 * @param sandbox whether the chains are made up
 */
export const walletLinkOf = (payment: PaymentView, amount: string | null, sandbox = false): string | null =>
  familyOf(chainOf(payment.sourceChainId)).walletLink?.(payment, amount, sandbox) ?? null;

/**
 * What a wallet in the payer's browser needs to pay by one press; null for a payment that it cannot pay so.
 * @param amount in whole tokens; null leaves it to the payer, and makes no offer
 * @param localRpcUrls RPC URLs of a simulated chain; null for a real one
 */
export const walletOfferOf = (
  payment: PaymentView,
  amount: string | null,
  localRpcUrls: readonly string[] | null = null,
): WalletOffer | null =>
  amount === null
    ? null
    : (familyOf(chainOf(payment.sourceChainId)).walletOffer?.(payment, amount, localRpcUrls) ?? null);

/** The accounts that pay out. Null for a family of which no chain is served. */
export type Treasuries = { readonly [F in ChainFamily]: ReturnType<(typeof families)[F]['readTreasury']> };

/** A family needs its treasury as soon as one of its chains is served. */
export function readTreasuries(read: Reader, served: ReadonlySet<ChainFamily>, production: boolean): Treasuries {
  const treasuries = allFamilies.map((family) => [
    family.name,
    served.has(family.name) ? family.readTreasury(read, production) : null,
  ]);
  return Object.fromEntries(treasuries) as Treasuries;
}

/** Whether a deposit of the family belongs to one payment by its derivation. */
export const derivesDepositFromPayment = (family: ChainFamily): boolean => families[family].derivesDepositFromPayment;

/** Whether a payment's deposit is derived as these treasuries' deposits are. False for a family that is not served. */
export const ownDepositsOf =
  (treasuries: Treasuries) =>
  async (family: ChainFamily, paymentId: string, deposit: Deposit): Promise<boolean> => {
    const treasury = treasuries[family];
    return treasury !== null && (await families[family].isOwnDeposit(treasury as never, paymentId, deposit));
  };
