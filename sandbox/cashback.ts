/** `npm run cashback -- message|sign …`: the text that a buyer signs to pay by credit, and the request that pays; docs/integrate/cashback.md. */
import { Command, InvalidArgumentError } from 'commander';
import { messageText } from '../domain/credit.ts';
import { addExamples } from '../tools/program.ts';
import { keepKeys } from './keys.ts';
import { patientFetch } from './patientFetch.ts';
import { readSandboxFile } from './sandboxFile.ts';
import { type MessageSigner, messageSigner } from './signMessage.ts';

interface Fields {
  readonly to: string;
  readonly cents: number;
  readonly timestamp?: number;
  readonly local?: number;
  readonly currency?: string;
  readonly order?: string;
  readonly about?: string;
  readonly service?: string;
}

const dataDir = process.env['DATA_DIR'] ?? './data';

const program = new Command('npm run cashback --').description('Pays a merchant from a buyer’s cashback credit.');

taking('message', 'Print the message that a wallet signs.')
  .requiredOption('--from <address>', 'Address of the buyer')
  .action((fields: Fields & { from: string }) => console.log(messageText(messageOf(fields, fields.from))));

taking('sign', 'Print the request, signed with CASHBACK_KEY or as the customer of the sandbox.')
  .option('--as <family>', 'Customer of the sandbox on evm, solana or stellar; used without CASHBACK_KEY', 'evm')
  .option('--send', 'Send the request and print the answer')
  .action(async (fields: Fields & { as: string; send?: boolean }) => {
    const buyer = buyerOf(fields.as);
    const message = messageOf(fields, buyer.address);
    const body = {
      from_address: buyer.address,
      to_handle: fields.to,
      amount_usd_cents: fields.cents,
      timestamp: message.timestamp_ms,
      ...(fields.local !== undefined && { amount_local: fields.local }),
      ...(fields.currency !== undefined && { currency_local: fields.currency }),
      ...(fields.order !== undefined && { order_id: fields.order }),
      ...(fields.about !== undefined && { about: fields.about }),
      signature: await buyer.sign(messageText(message)),
    };
    console.log(JSON.stringify(fields.send ? await post(message.service, body) : body, null, 2));
  });

addExamples(program, {
  message: '--to tea --cents 500 --from 0x108384d66E8790b0e4021407102679E1CeDF7D3b',
  sign: '--to tea --cents 500 --as evm --send',
});

await program.parseAsync().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});

function taking(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .requiredOption('--to <handle>', 'Slug of the merchant: of merchant_<slug>')
    .requiredOption('--cents <number>', 'Amount in US cents', number)
    .option('--timestamp <ms>', 'Unix time in milliseconds; default: now', number)
    .option('--local <amount>', 'Amount that the buyer read, in their currency', number)
    .option('--currency <code>', 'Currency of --local, such as EUR')
    .option('--order <id>', 'Order id of the merchant')
    .option('--about <text>', 'Text about the order, in one line')
    .option('--service <url>', 'URL of the request, /v1/cashbacksign included');
}

function messageOf({ to, cents, timestamp, local, currency, order, about, service }: Fields, fromAddress: string) {
  return {
    service: service ?? serviceUrl(),
    fromAddress,
    toHandle: to,
    amountUsdCents: cents,
    timestamp_ms: timestamp ?? Date.now(),
    amountLocal: local ?? null,
    currencyLocal: currency ?? null,
    orderId: order ?? null,
    about: about ?? null,
  };
}

function serviceUrl(): string {
  const base = process.env['PUBLIC_URL'] ?? readSandboxFile(dataDir)?.baseUrl;
  if (!base) throw new Error('--service is required: --service https://pay.example.com/v1/cashbacksign');
  return `${base.replace(/\/+$/, '')}${process.env['CASHBACK_PATH'] ?? ''}/v1/cashbacksign`;
}

function buyerOf(family: string): MessageSigner {
  const own = process.env['CASHBACK_KEY'];
  if (own) return messageSigner(own);
  if (!readSandboxFile(dataDir)) throw new Error('set CASHBACK_KEY, or start a sandbox with npm start');
  const { customer, stellar, solana } = keepKeys(dataDir);
  const key = { evm: customer, stellar: stellar.customer, solana: solana.customer }[family];
  if (!key) throw new Error(`${family} is not one of evm, solana, stellar`);
  return messageSigner(key);
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await patientFetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Use a number.');
  return value;
}
