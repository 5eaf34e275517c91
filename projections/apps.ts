import { ofMerchants, upsert } from './projection.ts';

/** Each app's settings now. */
export const apps = ofMerchants('apps', ({ after }) => {
  const { registration, settlement, webhookUrl, webhookSecret, keylessCreation } = after;
  if (!registration) return [];
  return [
    upsert('apps', {
      app_id: registration.appId,
      id_salt: registration.idSalt,
      registered_at: registration.registeredAt,
      webhook_url: webhookUrl,
      webhook_secret_ciphertext: webhookSecret?.ciphertext,
      webhook_secret_fingerprint: webhookSecret?.fingerprint,
      settlement_chain_id: settlement?.chainId,
      settlement_token_symbol: settlement?.token.symbol,
      settlement_token_address: settlement?.token.address,
      settlement_address: settlement?.receiverAddress,
      settlement_memo: settlement?.receiverMemo,
      keyless_creation: keylessCreation,
    }),
  ];
});
