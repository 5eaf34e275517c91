/**
 * One started sandbox for the end-to-end specs of a run that can share it. Their files are in test/e2e/shared: one shard runs them, one
 * after the other. A spec there uses accounts, orders and apps of its own, and leaves the service running and healthy.
 */
import assert from 'node:assert/strict';
import { createSandbox, type Sandbox } from './sandbox.ts';

/** Settings that some specs need and others tolerate. */
const settings = {
  TREASURY_ADDRESS_COOLDOWN_HOURS: '0',
  TREASURY_APPROVAL_USD: '50',
  HEADS_EVERY_EVENTS: '1',
};

let shared: Sandbox | undefined;

/** Returns the sandbox of this process, with all chains. It is destroyed when the run ends. */
export function sharedSandbox(): Sandbox {
  shared ??= createSandbox();
  return shared;
}

/** Starts the service and its world, unless they run. */
export async function startSharedSandbox(): Promise<void> {
  const sandbox = sharedSandbox();
  if (sandbox.pidOf('service') !== undefined) return;
  assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
}
