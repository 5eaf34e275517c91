/** EVENTSTORE_URL, in every form of the official client, including passwords and lists that the client parses wrongly. */
import { parseConnectionString, type QueryOptions } from '@eventstore/db-client/dist/Client/parseConnectionString.js';
import { socketOf } from './wire.ts';

export interface StoreAddress {
  /** One host: that node, or the cluster's DNS name with `discover`. Several hosts: nodes of a cluster, each of which knows the others. */
  readonly hosts: readonly { readonly address: string; readonly port: number }[];
  readonly discover: boolean;
  /** Socket of the embedded node; null with hosts. */
  readonly socket: string | null;
  readonly user: { readonly username: string; readonly password: string } | null;
  readonly options: QueryOptions;
  /** Options that the client does not know: they have no effect. */
  readonly unknown: readonly string[];
}

/** Value of EVENTSTORE_URL for the service's own node: for trials and small installations (docs/explain/decisions/0003-embedded-event-store.md). */
export const embedded = 'embedded';

const portDefault = 2113;
const host = String.raw`(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?`;
/** A password may contain any character: it ends at the first `@` that is followed by hosts and options only. */
const form = new RegExp(
  String.raw`^(?:esdb|kurrentdb)(?<discover>\+discover)?://(?:(?<user>[^:@]+):(?<password>.+?)@)?(?<hosts>${host}(?:\s*,\s*${host})*)/*(?:\?(?<options>.*))?$`,
  'is',
);

/** In the client's spelling; it reads them in any case, ignoring `_` and `-`. */
const known = [
  ...['tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'connectionName', 'nodePreference', 'throwOnAppendFailure'],
  ...['maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'keepAliveInterval', 'keepAliveTimeout'],
  'defaultDeadline',
] as const satisfies readonly (keyof QueryOptions)[];

/** @throws RangeError with the problem, and without any part that may be secret */
export function storeAddress(url: string): StoreAddress {
  const socket = socketOf(url);
  const none = { discover: false, user: null, options: { tls: false }, unknown: [] };
  if (socket !== null) return { ...none, hosts: [], socket };
  const found = form.exec(url.trim())?.groups;
  if (!found)
    throw new RangeError('is no URL like esdb://host:2113 or esdb+discover://user:password@first:2113,second:2113');
  const { user, password, hosts = '', options = '' } = found;
  return {
    hosts: hosts.split(',').map(endpoint),
    discover: found['discover'] !== undefined,
    socket: null,
    user: user && password ? { username: decoded(user), password: decoded(password) } : null,
    ...optionsOf(options),
  };
}

function endpoint(text: string) {
  const [, address = '', port = `${portDefault}`] = /^(.*?)(?::(\d+))?$/.exec(text.trim()) ?? [];
  if (Number(port) < 1 || Number(port) > 65_535) throw new RangeError('has a port that is not between 1 and 65535');
  return { address, port: Number(port) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError('has a user or password with a % that stands for itself: write it %25');
  }
}

/** The client parses each separately: otherwise it prints the whole URL, with the password, in its error. */
function optionsOf(text: string): Pick<StoreAddress, 'options' | 'unknown'> {
  let options: QueryOptions = {};
  const unknown: string[] = [];
  for (const option of text.split('&').filter(Boolean)) {
    const [, name = '', value = ''] = /^([^=]+)=([^?]+)$/.exec(option) ?? [];
    if (name === '') throw new RangeError('has an option that is not of the form name=value');
    const key = known.find((one) => one.toLowerCase() === name.trim().toLowerCase().replace(/[_-]/g, ''));
    if (key === undefined) unknown.push(name);
    else options = { ...options, ...optionOf(key, /^(true|false)$/i.test(value) ? value.toLowerCase() : value) };
  }
  return { options, unknown };
}

function optionOf(key: (typeof known)[number], value: string): QueryOptions {
  try {
    const { hosts: _hosts, dnsDiscover: _dnsDiscover, ...option } = parseConnectionString(`esdb://a?${key}=${value}`);
    return option;
  } catch {
    throw new RangeError(`has a value of ${key} that the client does not take`);
  }
}

/** True if any of its hosts is another machine without TLS. */
export const isInClear = ({ hosts, options }: StoreAddress): boolean =>
  options.tls === false && hosts.some(({ address }) => !/^(localhost|127(\.\d+){3}|\[::1\])$/i.test(address));
