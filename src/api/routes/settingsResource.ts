/** An app's settings as the API shows them. */
import type { FeeTier } from '../../../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../../../domain/money.ts';
import { shownPolicy } from '../../../domain/payment/amountPolicy.ts';
import type { ShownWallet } from '../../../queries/apps.ts';
import type { Settings } from '../../../queries/settings.ts';
import type { SettingsResponse } from '../schemas/settings.ts';

/** @param publicUrl where callers reach the service, without a slash at the end */
export const logoUrlOf = (publicUrl: string, digest: string | null): string | null =>
  digest === null ? null : `${publicUrl}/logos/${digest}`;

export function settingsResource(settings: Settings, publicUrl: string): SettingsResponse {
  const { profile, settlement, settlementChange } = settings;
  const { logo, ...shown } = profile;
  return {
    appId: settings.appId,
    registeredAt: settings.registeredAt,
    profile: { ...shown, logoUrl: logoUrlOf(publicUrl, logo) },
    settlement: settlement && walletResource(settlement),
    settlementChange: settlementChange && {
      changeId: settlementChange.changeId,
      settlement: walletResource(settlementChange.wallet),
      effectiveAt: settlementChange.effectiveAt,
    },
    webhookUrl: settings.webhookUrl,
    webhookSecretFingerprint: settings.webhookSecretFingerprint,
    webhookSecretRotatedAt: settings.webhookSecretRotatedAt,
    embeddingSites: [...settings.embeddingSites],
    payFrom: settings.payFrom.map(({ chainId, tokenSymbol }) => ({ chainId: String(chainId), tokenSymbol })),
    policy: shownPolicy(settings.policy),
    fees: settings.fees.map(feeResource),
    keylessAllowed: settings.keylessAllowed,
  };
}

const feeResource = ({ sourceChainId, destinationChainId, fixed_microUsd, basisPoints }: FeeTier) => ({
  sourceChainId: sourceChainId && String(sourceChainId),
  destinationChainId: destinationChainId && String(destinationChainId),
  fixed: formatAmount(BigInt(fixed_microUsd), microUsdDecimals),
  basisPoints,
});

const walletResource = ({ chainId, tokenSymbol, receiverAddress, receiverMemo }: ShownWallet) => ({
  chainId: String(chainId),
  tokenSymbol: tokenSymbol as 'USDC' | 'USDT',
  receiverAddress,
  receiverMemo,
});
