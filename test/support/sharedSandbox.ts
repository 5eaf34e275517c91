/**
 * One started sandbox for the end-to-end specs of a run that can share it, and one on real nodes. Their files are in test/e2e/shared and
 * test/realChains/shared: one shard runs them, one after the other. A spec there uses accounts, orders and apps of its own, and leaves the
 * service running and healthy.
 */
import assert from 'node:assert/strict';
import { onGroupEnd } from './hooks.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';

/** Settings that some specs need and others tolerate. */
export const sharedSettings = { TREASURY_ADDRESS_COOLDOWN_HOURS: '0', TREASURY_APPROVAL_USD: '50' };

let shared: Sandbox | undefined;
let onRealNodes: Sandbox | undefined;

/** Returns the sandbox of this process, with all chains. It is destroyed before the shard runs other files. */
export function sharedSandbox(): Sandbox {
  if (shared) return shared;
  const sandbox = createSandbox();
  onGroupEnd(() => {
    shared = undefined;
    return sandbox.destroy();
  });
  shared = sandbox;
  return sandbox;
}

/** Chains of the sandbox on real nodes: each family, and three nodes of EVM chains. */
export const realChainIds = [8453, 1, 56, 501, 1500] as const;

/** Returns the sandbox of this process on real nodes. It is destroyed before the shard runs other files. */
export function sharedRealSandbox(): Sandbox {
  if (onRealNodes) return onRealNodes;
  const sandbox = createSandbox({ chains: realChainIds, onRealNodes: true });
  onGroupEnd(() => {
    onRealNodes = undefined;
    return sandbox.destroy();
  });
  onRealNodes = sandbox;
  return sandbox;
}

/** Starts the service and its world, unless they run. */
export const startSharedSandbox = (): Promise<void> => started(sharedSandbox(), { HEADS_EVERY_EVENTS: '1' });

/** Starts the service and its world on real nodes, unless they run. */
export const startSharedRealSandbox = (): Promise<void> => started(sharedRealSandbox());

async function started(sandbox: Sandbox, more: Record<string, string> = {}): Promise<void> {
  if (sandbox.pidOf('service') !== undefined) return;
  assert.equal(await sandbox.start({ ...sharedSettings, ...more }), 'ready', sandbox.printed());
}
