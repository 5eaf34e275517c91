/**
 * One started sandbox for the end-to-end specs of a run that can share it, one on real nodes of all families, and one on real EVM nodes.
 * Their files are in test/e2e/shared, test/realChains/shared and test/realChains/sharedEvm: one shard runs the files of a folder, one after
 * the other. A spec uses accounts, orders and apps of its own. In the first two folders it leaves the service running and healthy, in the
 * last one the nodes.
 */
import assert from 'node:assert/strict';
import type { ChainId } from '../../domain/chains.ts';
import { onGroupEnd } from './hooks.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';

/** Settings that some specs need and others tolerate. */
export const sharedSettings = { TREASURY_ADDRESS_COOLDOWN_HOURS: '0', TREASURY_APPROVAL_USD: '50' };

const shared = new Map<string, Sandbox>();

/** Returns the sandbox of this name in this process. It is destroyed before the shard runs other files. */
function sandboxNamed(name: string, options: SandboxOptions): Sandbox {
  const known = shared.get(name);
  if (known) return known;
  const sandbox = createSandbox(options);
  onGroupEnd(() => {
    shared.delete(name);
    return sandbox.destroy();
  });
  shared.set(name, sandbox);
  return sandbox;
}

/** Events between two heads of the shared sandbox. A head after each event costs an eighth of the group's processor time. */
export const headEveryEvents = 25;

/** Returns the shared sandbox with all chains. */
export const sharedSandbox = (): Sandbox => sandboxNamed('all chains', {});

/** Chains of the sandbox on real nodes: each family, and three nodes of EVM chains. */
export const realChainIds = [8453, 1, 56, 501, 1500] as const;

/** Returns the shared sandbox on real nodes. */
export const sharedRealSandbox = (): Sandbox => sandboxNamed('real nodes', { chains: realChainIds, onRealNodes: true });

/** Chains of the sandbox on real EVM nodes, whose blocks specs remove. */
export const realEvmChainIds = [8453, 1] as const;

/** Returns the shared sandbox on two real EVM nodes. Its service runs for the spec that starts it; the nodes run for all specs of the group. */
export const sharedRealEvmSandbox = (): Sandbox =>
  sandboxNamed('real EVM nodes', { chains: realEvmChainIds, onRealNodes: true });

/** Returns the URLs of the two real EVM nodes. Starts the nodes unless they run. */
export async function startSharedRealEvmNodes(): Promise<ReadonlyMap<ChainId, string>> {
  const sandbox = sharedRealEvmSandbox();
  const urls = () =>
    realEvmChainIds.flatMap((id) => {
      const url = sandbox.nodeUrl(id);
      return url === undefined ? [] : [[id, url] as const];
    });
  if (urls().length < realEvmChainIds.length) {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    await sandbox.kill();
  }
  return new Map(urls());
}

/** Starts the service and its world, unless they run. */
export const startSharedSandbox = (): Promise<void> =>
  started(sharedSandbox(), { HEADS_EVERY_EVENTS: String(headEveryEvents) });

/** Starts the service and its world on real nodes, unless they run. */
export const startSharedRealSandbox = (): Promise<void> => started(sharedRealSandbox());

async function started(sandbox: Sandbox, more: Record<string, string> = {}): Promise<void> {
  if (sandbox.pidOf('service') !== undefined) return;
  assert.equal(await sandbox.start({ ...sharedSettings, ...more }), 'ready', sandbox.printed());
}
