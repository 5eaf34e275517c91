/** The driver of containers: one compose file under its own project name, local chains of this machine, and an app that orders. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import { payOnEvm } from '../../payOnEvm.ts';
import type { TrialWorld } from '../world.ts';
import { chainIds, startChains } from './chains.ts';
import type { Engine } from './engine.ts';
import { buildEventStore } from './images.ts';
import { putKey, registerApps } from './operator.ts';
import { openProject, type Project, removeDirectory } from './project.ts';
import { environment, type Keys, newKeys, type ShapeName, shapes, signerEnvironment } from './shapes.ts';

export interface ContainerWorld extends TrialWorld {
  readonly project: Project;
}

export interface ContainerWorldOptions {
  readonly engine: Engine;
  readonly name: ShapeName;
  /** With stand-ins for the images. */
  readonly isLocal: boolean;
  /** Keeps containers, volumes and the directory. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
  readonly step: (text: string) => void;
}

export async function openContainerWorld(options: ContainerWorldOptions): Promise<ContainerWorld> {
  const { engine, name, isLocal, keep, signal, step } = options;
  const shape = shapes[name];
  step(`── ${shape.file}`);
  const directory = mkdtempSync(join(tmpdir(), `payment-intents-compose-${name}-`));
  const keys = newKeys();
  const closing: (() => Promise<unknown>)[] = [
    async () => (keep ? step(`left: ${directory}`) : removeDirectory(engine, directory)),
  ];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each().catch((error: Error) => console.error(error.message));
  };
  try {
    const chains = await startChains({
      ...{ directory: join(directory, 'chains'), gateway: await gatewayOf(engine), ...keys },
    });
    closing.push(chains.stop);
    const project = await openProject({
      ...{ engine, shape, directory, isLocal, signal, chainsCaFile: chains.caFile },
      env: environment(shape, keys, chains, isLocal),
      signerEnv: shape.hasSigner ? signerEnvironment(chains) : null,
    });
    if (!keep) closing.push(() => project.down('volumes too'));
    await begin(project, keys, options);
    step('registering a wallet app and a merchant, as an operator types it');
    const apiKey = await registerApps(project, privateKeyToAddress(keys.payers[0] ?? '0x'));
    return {
      ...{ project, apiKey, chainIds, close, url: project.url, rpcUrl: chains.localUrl },
      payers: (chainId) =>
        keys.payers.map((key) => ({
          address: privateKeyToAddress(key),
          pay: ({ source: { receiverAddress } }, token, amount) =>
            payOnEvm(chains.localUrl(chainId), key, { token: token.address, receiverAddress, amount }),
        })),
      treasury: () => privateKeyToAddress(keys.treasury),
      tool: (tool, ...args) => project.exec(shape.tools, 'npm', 'run', '-s', tool, '--', ...args),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Address of this machine for containers of any network. */
async function gatewayOf({ docker }: Engine): Promise<string> {
  return (await docker(['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}'])).trim();
}

async function begin(project: Project, { treasury }: Keys, { isLocal, step }: ContainerWorldOptions): Promise<void> {
  await project.down('volumes too');
  step('building the image');
  await project.compose('build', project.shape.ours[0] ?? '');
  if (isLocal) await buildEventStore(project.engine, step);
  if (project.shape.hasSigner) {
    step('passwords, certificates, and the treasury’s key in its keystore');
    await project.compose('run', '--rm', 'prepare');
    await putKey(project, treasury, privateKeyToAddress(treasury));
  }
  step('up');
  await project.up();
  await project.untilHealthy();
  step('all is healthy');
}
