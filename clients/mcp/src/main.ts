#!/usr/bin/env node
/** `payment-intents-mcp`: the server over standard input and output. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createServer } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

try {
  await createServer(readSettings(process.env)).connect(new StdioServerTransport());
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
