/** `npm run report -- --month 2026-11`: the month as one self-contained page. Reads only Postgres, and writes nothing there. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadEnvFile } from 'node:process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { chainIds } from '../domain/chains.ts';
import { coinOf, formatAmount, microUsdDecimals } from '../domain/money.ts';
import { askAll, type Month, monthNamed, type ReportCoinPrices } from '../queries/monthlyReport.ts';
import { readCoin } from '../src/chains/money/coins.ts';
import { createReader } from '../src/environment/reader.ts';
import { writeWhole } from '../src/lib/writeWhole.ts';
import { systemClock } from '../src/process/system.ts';
import { type Language, languages } from '../web/parts/language.ts';
import { inLanguage } from '../web/parts/say.ts';
import { reportPage } from '../web/report/page.ts';
import { databaseUrlOf, openToolDatabase } from './connections.ts';
import { print } from './print.ts';
import { runProgram } from './program.ts';

interface Options {
  readonly month: Month;
  readonly app?: string;
  readonly out?: string;
  readonly database?: string;
  readonly data: string;
  readonly language: Language;
}

/** One month needs a scan of a year's payments. */
const statementTimeout_ms = 10 * 60_000;

function monthOf(text: string): Month {
  const month = monthNamed(text);
  if (!month) throw new InvalidArgumentError('Use a month such as 2026-11.');
  return month;
}

const options = new Command()
  .name('npm run report --')
  .description(
    'Writes one month as an HTML page: plots, tables, and the SQL of each number. The page names no payer and no payment.',
  )
  .requiredOption('--month <month>', 'Month in UTC, such as 2026-11', monthOf)
  .option('--app <id>', 'Report on one app; default: all apps')
  .option('--out <file>', 'File to write; default: report-<month>.html, or report-<month>-<app>.html')
  .addOption(new Option('--language <language>', 'Language of the page').choices(languages).default('en'))
  .addOption(new Option('--database <url>', 'Default: the URL of the running service').env('DATABASE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .addHelpText('after', '\nExample: npm run report -- --month 2026-11 --app merchant_demo')
  .parse()
  .opts<Options>();

await runProgram(() => main(options));

async function main({ month, app, out, language, ...where }: Options): Promise<void> {
  for (const file of ['.env', join(where.data, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  const about = { month, appId: app ?? null, prices: coinPrices(), now: systemClock.now() };
  const url = await databaseUrlOf(where);
  const database = openToolDatabase({ url, applicationName: 'report', connectionsMax: 1, statementTimeout_ms });
  try {
    const answers = await askAll(database, about);
    const file = out ?? `report-${month.name}${app === undefined ? '' : `-${app.replace(/[^\w-]/g, '_')}`}.html`;
    const css = await stylesheet();
    writeWhole(
      file,
      inLanguage({ language, url: null }, () => reportPage(about, answers, css)),
      0o666,
    );
    print(`${file}: ${month.title}, ${app ?? 'all apps'}.`);
  } finally {
    await database.close();
  }
}

/** The service's coin prices. @throws Error for an invalid price */
function coinPrices(): ReportCoinPrices {
  const problems: string[] = [];
  const read = createReader(process.env, problems);
  const prices = chainIds.map((id) => {
    const { decimals } = coinOf(id);
    const { price_microUsd } = readCoin(read, id, decimals);
    return [id, { decimals, usd: formatAmount(price_microUsd, microUsdDecimals) }] as const;
  });
  if (problems.length > 0) throw new Error(problems.join('; '));
  return Object.fromEntries(prices);
}

async function stylesheet(): Promise<string> {
  const files = [new URL('../web/look.css', import.meta.url), new URL('../web/report/report.css', import.meta.url)];
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
}
