/** What a payment would cost, as the API shows it. */
import type { ChainId } from '../../../domain/chains.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { Quote } from '../../../domain/payment/create.ts';
import type { SourceTerms, TokenRef } from '../../../domain/payment/events.ts';
import type { QuoteResponse } from './schemas_quote.ts';

export function quoteResource({ type, source, destination, fee, limits, alternatives }: Quote): QuoteResponse {
  const { receiverAddress, receiverMemo } = destination;
  const first = quoted({ ...source, fee, limits });
  return {
    type,
    source: first,
    destination: { ...assetOf(destination), receiverAddress, receiverMemo, amount: amountOf(destination) },
    payFrom: alternatives ? [first, ...alternatives.map(quoted)] : null,
  };
}

function quoted({ chainId, token, amount, fee, limits }: SourceTerms): QuoteResponse['source'] {
  const shown = (units: string | null | undefined) => amountOf({ token, amount: units ?? null });
  return {
    ...assetOf({ chainId, token }),
    amount: shown(amount),
    fee: shown(fee.amount),
    feeFixed: formatAmount(BigInt(fee.fixed), token.decimals),
    feeBasisPoints: fee.basisPoints,
    minAmount: shown(limits?.min),
    maxAmount: shown(limits?.max),
  };
}

const assetOf = ({ chainId, token }: { readonly chainId: ChainId; readonly token: TokenRef }) => ({
  chainId: String(chainId),
  tokenSymbol: token.symbol,
  tokenAddress: token.address,
});

/** In whole tokens. */
const amountOf = ({ token, amount }: { readonly token: TokenRef; readonly amount: string | null }): string | null =>
  amount === null ? null : formatAmount(BigInt(amount), token.decimals);
