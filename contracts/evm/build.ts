/**
 * Compiles the Solidity sources to committed artifacts: `npm run contracts`. The output is equal on every machine (pinned compiler, no
 * metadata, no paths), so a test can rebuild and compare, and anyone can check the deployed bytecode.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import solc from 'solc';
import { keccak256 } from 'viem';

const root = join(import.meta.dirname, '../..');
const packages = createRequire(import.meta.url);
/** `npm run contracts` installs them. */
const layerZeroFolder = 'sandbox/contracts/layerzero/node_modules';
const needsLayerZero = ({ source }: Artifact): boolean => /Endpoint|Usdt0/.test(source);

/** Artifacts: each file has one contract's ABI and creation code, and its deployed code if nodes run that. */
export const artifacts: readonly Artifact[] = [
  { source: 'contracts/evm/ForwarderFactory.sol', contract: 'ForwarderFactory', folder: 'contracts/evm/artifacts' },
  { source: 'contracts/evm/BalanceReader.sol', contract: 'BalanceReader', folder: 'contracts/evm/artifacts' },
  {
    source: 'contracts/evm/TransferProbe.sol',
    contract: 'TransferProbe',
    folder: 'contracts/evm/artifacts',
    runs: true,
  },
  { source: 'contracts/evm/PayMany.sol', contract: 'PayMany', folder: 'contracts/evm/artifacts', runs: true },
  { source: 'sandbox/contracts/SandboxToken.sol', contract: 'SandboxToken', folder: 'sandbox/contracts/artifacts' },
  { source: 'sandbox/contracts/SandboxUsdc.sol', contract: 'SandboxUsdc', folder: 'sandbox/contracts/artifacts' },
  { source: 'sandbox/contracts/SandboxTether.sol', contract: 'SandboxTether', folder: 'sandbox/contracts/artifacts' },
  {
    source: 'sandbox/contracts/SandboxCctp.sol',
    contract: 'SandboxMessageTransmitter',
    folder: 'sandbox/contracts/artifacts',
  },
  {
    source: 'sandbox/contracts/SandboxCctp.sol',
    contract: 'SandboxTokenMessenger',
    folder: 'sandbox/contracts/artifacts',
  },
  {
    source: 'sandbox/contracts/SandboxEndpoint.sol',
    contract: 'SandboxEndpoint',
    folder: 'sandbox/contracts/artifacts',
  },
  {
    source: 'sandbox/contracts/SandboxUsdt0.sol',
    contract: 'SandboxUsdt0Adapter',
    folder: 'sandbox/contracts/artifacts',
  },
  { source: 'sandbox/contracts/SandboxUsdt0.sol', contract: 'SandboxUsdt0', folder: 'sandbox/contracts/artifacts' },
];

interface Artifact {
  readonly source: string;
  readonly contract: string;
  readonly folder: string;
  readonly runs?: true;
}

interface CompilerError {
  readonly formattedMessage: string;
}
interface Built {
  readonly abi: unknown;
  readonly evm: Readonly<Record<'bytecode' | 'deployedBytecode', { readonly object: string }>>;
}
interface Compiled {
  readonly errors?: readonly CompilerError[];
  readonly contracts: Record<string, Record<string, Built>>;
}

const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'cancun',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

/** Whether the sources of the sandbox's USDT0 are installed. */
export const hasLayerZero = (): boolean => existsSync(join(root, layerZeroFolder));

/**
 * Compiles everything, without USDT0's contracts if LayerZero's sources are not installed. Warnings count as errors.
 * @returns file texts by path from the repository's root
 */
export async function compile(): Promise<ReadonlyMap<string, string>> {
  const compiled = hasLayerZero() ? artifacts : artifacts.filter((artifact) => !needsLayerZero(artifact));
  const names = [...new Set(compiled.map(({ source }) => source))];
  const texts = await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')));
  const sources = Object.fromEntries(names.map((name, at) => [name, { content: texts[at] }]));
  const input = JSON.stringify({ language: 'Solidity', sources, settings });
  const output = JSON.parse(solc.compile(input, { import: importSource })) as Compiled;
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'));

  return new Map(
    compiled.map(({ source, contract, folder, runs }) => {
      const built = output.contracts[source]?.[contract];
      if (!built) throw new Error(`${source} has no contract ${contract}: see the list of artifacts`);
      return [`${folder}/${contract}.ts`, artifactText(contract, built, runs)];
    }),
  );
}

/** Everything that determines the artifacts, besides the compiler's own code: sources, locked packages, and this program with its settings. */
const inputs = [
  'contracts/evm/*.sol',
  'sandbox/contracts/*.sol',
  'sandbox/contracts/layerzero/package-lock.json',
  'contracts/evm/build.ts',
];

export const stampPath = 'contracts/evm/artifacts/stamp.json';

/**
 * Identifies what was built of what, so that a changed source or artifact shows without the compiler, which takes seconds.
 * @returns text of the file at `stampPath`
 */
export function stamp(): string {
  const hashOf = (patterns: readonly string[], besides: string): string => {
    const hash = createHash('sha256').update(besides);
    for (const path of globSync(patterns, { cwd: root }).sort())
      hash.update(`${path}\n`).update(readFileSync(join(root, path)));
    return hash.digest('hex');
  };
  const openZeppelin = packages('@openzeppelin/contracts/package.json').version as string;
  const built = artifacts.map(({ folder, contract }) => `${folder}/${contract}.ts`);
  const hashes = {
    sources: hashOf(inputs, `${solc.version()} ${openZeppelin}`),
    artifacts: hashOf(built, ''),
  };
  return `${JSON.stringify(hashes, null, 2)}\n`;
}

/** Sources name each other by path from the repository's root, and packages by name. */
function importSource(path: string): { contents: string } {
  const isOurs = path.startsWith('contracts/') || path.startsWith('sandbox/');
  const ofLayerZero = /^(@layerzerolabs|solidity-bytes-utils)\//.test(path);
  const folder = ofLayerZero ? join(root, layerZeroFolder) : root;
  return { contents: readFileSync(isOurs || ofLayerZero ? join(folder, path) : packages.resolve(path), 'utf8') };
}

function artifactText(contract: string, { abi, evm }: Built, runs = false): string {
  const bytecode = `0x${evm.bytecode.object}` as const;
  const name = contract.charAt(0).toLowerCase() + contract.slice(1);
  return [
    '// Built by `npm run contracts`; a test compares it with its source.',
    `export const ${name} = {`,
    `  abi: ${JSON.stringify(abi)},`,
    `  bytecode: '${bytecode}',`,
    `  bytecodeHash: '${keccak256(bytecode)}',`,
    ...(runs ? [`  code: '0x${evm.deployedBytecode.object}',`] : []),
    '} as const;',
    '',
  ].join('\n');
}

if (import.meta.main) {
  for (const [path, text] of await compile()) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
    console.log(path);
  }
  await writeFile(join(root, stampPath), stamp());
}
