/**
 * Compiles the Stellar payin contract to its committed artifact: part of `npm run contracts`. Anyone can rebuild it and compare the hash
 * with that of the code on the chain.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileContract } from './compile.ts';
import { payinSpec } from './spec.ts';

const file = 'contracts/stellar/artifacts/payin.ts';

/** @returns the artifact's text by its path from the repository's root */
export async function buildPayin(): Promise<readonly [path: string, text: string]> {
  const wasm = await compileContract(join(import.meta.dirname, 'payin.as'), payinSpec);
  return [file, artifactText(wasm)];
}

function artifactText(wasm: Buffer): string {
  return [
    '// Built by `npm run contracts`; a test compares it with its source.',
    'export const payin = {',
    `  wasm: '${wasm.toString('base64')}',`,
    `  wasmHash: '${createHash('sha256').update(wasm).digest('hex')}',`,
    '} as const;',
    '',
  ].join('\n');
}

if (import.meta.main) {
  const [path, text] = await buildPayin();
  await writeFile(join(import.meta.dirname, '../..', path), text);
  console.log(path);
}
