/** `/llms.txt` (llmstxt.org): the service for programs that read before they pay. */
export const llmsText = (publicUrl: string): string => `# Payment Intents

> Stablecoin payments over seven chains. A payer pays on one chain, and the merchant is paid out on another one. Programs pay by x402 or by the
> Payment scheme (MPP) with one signature and no coin for gas, in USDC on Base, Ethereum, Arbitrum, Polygon,
> Stellar and Solana.

## Pay

- A payment has a link \`${publicUrl}/pay/<secret>\`. Call \`<link>/x402\` with any method.
- A reusable link is \`${publicUrl}/link/<id>\`. Call \`<link>/x402\`. Each purchase is a payment of its own.
  - \`?order=<your id>\`, 16 to 128 letters, digits, - and _: the same id is the same purchase. Send it, so that a retry never buys twice.
  - \`?amount=12.50\`, in dollars, where the link has no amount.
- 402 has the terms: \`PAYMENT-REQUIRED\` (x402 version 2) and \`WWW-Authenticate: Payment\` (MPP). Nothing is stored before you sign.
- Sign one of the terms, and send it as \`PAYMENT-SIGNATURE\` or \`Authorization: Payment\`.
- 200: paid. 402 \`settlement_pending\`: send the same header again after \`Retry-After\`. Never sign again while it is pending.
- Stock clients of x402 pay at most 1 dollar. Raise the limit first: \`client.setSpendControls({ maxAmountPerPayment: '$50' })\`.

## Sell

- [API reference](${publicUrl}/docs): create payments, read them, get signed webhooks. It needs a key.
- [OpenAPI](${publicUrl}/openapi.json)
- Facilitator of x402 for your own server: \`${publicUrl}/x402\`, with your key as \`X-API-Key\`. \`payTo\` is the deposit of one of your payments.
`;
