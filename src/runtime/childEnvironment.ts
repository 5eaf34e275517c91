/**
 * The environment for a child process with an IPC channel. Without this, a child of `node --watch` would report the files
 * that it loads over the channel before its own first message.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { WATCH_REPORT_DEPENDENCIES: _, ...environment } = process.env;
  return environment;
}
