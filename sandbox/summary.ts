import { relative, resolve } from 'node:path';
import { chains } from '../domain/chains.ts';
import type { SandboxFile } from './sandboxFile.ts';
import { presetNamed } from './weather/presets.ts';
import type { WeatherFacts } from './weather/world.ts';

/** Next steps for a newcomer, ready to paste. */
export function summary(sandbox: SandboxFile, dataDir: string): string {
  const { baseUrl, operationsUrl, merchant, wallet, shop, webhook, mailbox, demoEmail } = sandbox;
  const names = chains.filter(({ id }) => sandbox.chains[String(id)]).map(({ id, name }) => `${name} ${id}`);
  return `
  Payment Intents runs at ${baseUrl}

    Dashboard       ${baseUrl}/dashboard · sign in as ${demoEmail}
                    its code is in the mailbox: ${mailbox.url}
    Demo shop       ${shop.url} · order, pay, receipt
    API reference   ${baseUrl}/docs
    Operations      ${operationsUrl}/readyz · ${operationsUrl}/metrics
    Chains          ${names.join(' · ')}
${sandbox.realNodes.length > 0 ? `    Real nodes      ${sandbox.realNodes.join(' · ')}\n` : ''}${sandbox.weather ? weatherLine(sandbox.weather) : ''}    Webhooks        ${webhook.url} → ${relative(process.cwd(), webhook.log)}
    Keys and URLs   ${relative(process.cwd(), dataDir)}/sandbox.json

    ${merchant.appId}   orders ${merchant.ordersKey}
                    admin  ${merchant.adminKey}
    ${wallet.appId}     open for creation without a key

${sandbox.chains['8453'] && sandbox.chains['1'] ? tryIt(sandbox, dataDir) : ''}  Ctrl-C stops everything; npm start goes on from here.
`;
}

const weatherLine = ({ name, seed }: WeatherFacts): string =>
  `    Weather         ${name}, seed ${seed}: ${presetNamed(name).says}\n`;

function tryIt({ baseUrl, merchant, wallet, customer }: SandboxFile, dataDir: string): string {
  const elsewhere = relative(resolve('./data'), dataDir) === '' ? '' : `DATA_DIR=${relative(process.cwd(), dataDir)} `;
  const receiver = merchant.settlement.receiverAddress;
  const order = {
    appId: wallet.appId,
    type: 'exactOut',
    display: { title: 'Coffee', currency: 'USD' },
    source: { chainId: 8453, tokenSymbol: 'USDC' },
    destination: { chainId: 1, tokenSymbol: 'USDC', receiverAddress: receiver, amount: '10.00' },
  };
  const create = (body: object) =>
    `curl -s ${baseUrl}/payment-api/payments -H 'Content-Type: application/json' \\\n       -d '${JSON.stringify(body)}'`;
  const payer = customer['1500']?.address;
  return `  1. Create a payment: 10.00 USDC for a receiver on Ethereum, paid on Base

     ${create(order)}
${payer ? fromStellar(create({ ...order, ...contractPayment(payer) })) : ''}
  2. Pay it as the customer, with the id from the answer

     ${elsewhere}npm run pay -- <paymentId>

`;
}

const contractPayment = (senderAddress: string) => ({
  intent: 'stellar_payin_contracts',
  source: { chainId: 1500, tokenSymbol: 'USDC', senderAddress },
});

const fromStellar = (command: string): string => `
     or paid on Stellar, into the payin contract:

     ${command}
`;
