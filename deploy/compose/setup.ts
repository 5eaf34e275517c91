/** `npm run setup`: writes a `.env` for docker-compose.yml from `.env.example`, with new keys and passwords. Changes no file that exists. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

interface Options {
  readonly publicUrl: string;
  readonly chain: Readonly<Record<string, string>>;
}

const evmChains = ['8453', '56', '1', '42161', '137'];

/** Solana and Stellar need treasury keys of their own, which an operator brings. */
function withChain(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, chainId = '', urls = ''] = /^(\d+)=(\S+)$/.exec(text) ?? [];
  if (evmChains.includes(chainId)) return { ...before, [chainId]: urls };
  throw new InvalidArgumentError(`Write <chainId>=<url of a node>, with one of ${evmChains.join(', ')} as chainId.`);
}

/** Returns the example with the values filled in. A line that is commented out is uncommented. */
function filled(example: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [name, value]) => {
    const line = new RegExp(`^(# )?${name}=.*$`, 'm');
    if (!line.test(text)) throw new Error(`.env.example has no line for ${name}`);
    return text.replace(line, () => `${name}=${value}`);
  }, example);
}

new Command()
  .name('npm run setup --')
  .description('Writes .env for docker-compose.yml, with new keys and passwords. Changes no file that exists.')
  .requiredOption('--public-url <url>', 'Public URL of the service, for example https://pay.example.com')
  .requiredOption('--chain <chainId=url>', 'Chain to serve and URL of its node; repeat for further chains', withChain)
  .addHelpText(
    'after',
    '\nExample: npm run setup -- --public-url https://pay.example.com --chain 8453=https://base.example.com/key',
  )
  .action(({ publicUrl, chain }: Options) => {
    const key = generatePrivateKey();
    const values = {
      MASTER_KEY: randomBytes(32).toString('hex'),
      TREASURY_PRIVATE_KEY: key,
      TREASURY_ADDRESS: privateKeyToAddress(key),
      POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
      PUBLIC_URL: publicUrl,
      ...Object.fromEntries(Object.entries(chain).map(([chainId, urls]) => [`RPC_URLS_${chainId}`, urls])),
    };
    const example = readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8');
    // Its owner alone may read it; `wx` fails if it exists.
    writeFileSync('.env', filled(example, values), { mode: 0o600, flag: 'wx' });
    process.stdout.write(`Wrote .env. The treasury is ${values.TREASURY_ADDRESS}: fund it on each chain.\n`);
    process.stdout.write('Keep copies of MASTER_KEY and TREASURY_PRIVATE_KEY apart from the backups.\n');
  })
  .parse();
