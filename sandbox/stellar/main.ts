/**
 * A local Stellar in its own process.
 * `node sandbox/stellar/main.ts --port 0 --ledger-ms 1000 --state stellar.jsonl`
 */
import { parseArgs } from 'node:util';
import { readyProgram } from '../readyProgram.ts';
import { createStellar, type LedgerPace } from './stellar.ts';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'ledger-ms': { type: 'string', default: '1000' },
    state: { type: 'string' },
    passphrase: { type: 'string' },
    detached: { type: 'boolean', default: false },
  },
});

function paceOf(text: string): LedgerPace {
  if (text === 'manual' || text === 'instant') return text;
  if (!(Number(text) > 0)) throw new Error(`--ledger-ms ${text}: say manual, instant or milliseconds above 0`);
  return Number(text);
}

const stellar = await createStellar({
  port: Number(options.port),
  ledger_ms: paceOf(options['ledger-ms']),
  stateFile: options.state,
  networkPassphrase: options.passphrase,
});
const { rpcUrl, networkPassphrase } = stellar;
readyProgram({
  facts: { rpcUrl, networkPassphrase },
  text: `Stellar RPC: ${rpcUrl} (${networkPassphrase})`,
  detached: options.detached,
  stop: () => stellar.stop(),
});
