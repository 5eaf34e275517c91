/**
 * A local Solana in its own process.
 * `node sandbox/solana/main.ts --port 0 --slot-ms 400 --state solana.jsonl`
 */
import { parseArgs } from 'node:util';
import { readyProgram } from '../readyProgram.ts';
import { createSolana, type SlotPace } from './solana.ts';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'slot-ms': { type: 'string', default: '400' },
    'confirmed-slots': { type: 'string' },
    'finalized-slots': { type: 'string' },
    state: { type: 'string' },
    detached: { type: 'boolean', default: false },
  },
});

function paceOf(text: string): SlotPace {
  if (text === 'manual') return text;
  if (!(Number(text) > 0)) throw new Error(`--slot-ms ${text}: say manual or milliseconds above 0`);
  return Number(text);
}

function slotsOf(name: 'confirmed-slots' | 'finalized-slots'): number | undefined {
  const text = options[name];
  if (text === undefined || /^\d{1,4}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new Error(`--${name} ${text}: say a whole number of slots`);
}

const solana = await createSolana({
  port: Number(options.port),
  slot_ms: paceOf(options['slot-ms']),
  confirmed_slots: slotsOf('confirmed-slots'),
  finalized_slots: slotsOf('finalized-slots'),
  stateFile: options.state,
});
const { rpcUrl, wsUrl } = solana;
readyProgram({
  facts: { rpcUrl, wsUrl },
  text: `Solana RPC: ${rpcUrl}, ${wsUrl}`,
  detached: options.detached,
  stop: () => solana.stop(),
});
