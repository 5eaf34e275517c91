/** `npm run cashback -- message|sign …`: the text that a buyer signs to pay by credit, and the request that pays; docs/integrate/cashback.md. */
import { Command, InvalidArgumentError } from 'commander';
import { messageText } from '../domain/credit.ts';
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

const program = new Command('npm run cashback --').description('pay a merchant out of a buyer’s credit');

taking('message', 'print the text to be signed, for a wallet')
  .requiredOption('--from <address>', 'the buyer’s address, as its chain spells it')
  .action((fields: Fields & { from: string }) => console.log(messageText(messageOf(fields, fields.from))));

taking('sign', 'print the request, signed with CASHBACK_KEY or as the sandbox’s customer')
  .option('--as <family>', 'without CASHBACK_KEY: the sandbox’s customer on evm, solana or stellar', 'evm')
  .option('--send', 'post it, and print the answer instead')
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

await program.parseAsync().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});

function taking(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .requiredOption('--to <handle>', 'the merchant: the slug of merchant_<slug>')
    .requiredOption('--cents <number>', 'how much, in US cents', number)
    .option('--timestamp <ms>', 'Unix time in milliseconds; now when left out', number)
    .option('--local <amount>', 'what the buyer was shown', number)
    .option('--currency <code>', 'the currency of --local, such as EUR')
    .option('--order <id>', 'the merchant’s order')
    .option('--about <text>', 'one line')
    .option('--service <url>', 'the URL that is posted to, /v1/cashbacksign included');
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
  if (!base) throw new Error('name the URL that is posted to: --service https://pay.example.com/v1/cashbacksign');
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
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Not a number.');
  return value;
}
