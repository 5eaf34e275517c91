/**
 * A local Solana in its own process.
 * `node sandbox/solana/main.ts --port 0 --slot-ms 400 --state solana.jsonl`
 */
import { parseArgs } from 'node:util';
import { createSolana } from './solana.ts';

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

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));

const solana = await createSolana({
  port: Number(options.port),
  slot_ms: options['slot-ms'] === 'manual' ? 'manual' : Number(options['slot-ms']),
  confirmed_slots: numberOf(options['confirmed-slots']),
  finalized_slots: numberOf(options['finalized-slots']),
  stateFile: options.state,
});
const { rpcUrl, wsUrl } = solana;
if (process.send) process.send({ rpcUrl, wsUrl });
else console.log(`Solana RPC: ${rpcUrl}, ${wsUrl}`);

const stop = () => void solana.stop().then(() => process.exit(0));
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
if (process.send && !options.detached) process.on('disconnect', stop);
