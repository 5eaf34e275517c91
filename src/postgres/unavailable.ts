import { Unavailable } from '../../commands/ports.ts';

/** Errors of sockets and of the pg driver itself that say nothing about the statement. */
const lostConnection =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|Connection terminated|connection timeout|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|Client was closed|Cannot use a pool after calling end/i;

/**
 * SQLSTATEs after which the same statement may succeed (PostgreSQL manual, appendix A): 08 connection, 53 resources, 57 shutdown and
 * cancellation, 58 system, 25006 read-only after a failover, 40001/40P01 serialisation and deadlock, 55P03 lock timeout.
 */
const passing = /^(08...|53...|57...|58...|25006|25P0[34]|40001|40P01|55P03)$/;

/** Turns what an outage or overload makes of a statement into `Unavailable`; every other error stays what it is. */
export function unavailableOr(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code = '' } = error as { code?: string };
  // A refused connection to several addresses is an AggregateError without a message of its own.
  const text = `${code} ${error.message}`;
  if (!passing.test(code) && !lostConnection.test(text)) return error;
  return new Unavailable(`Postgres cannot answer now (${text.trim()}): try again`, 1, { cause: error });
}
