/**
 * The environment for a child process that talks over a channel. Under `node --watch` it would inherit the order to
 * report its files there, and its first message would not be its own.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { WATCH_REPORT_DEPENDENCIES: _, ...environment } = process.env;
  return environment;
}
