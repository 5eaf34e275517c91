#!/usr/bin/env node
/**
 * Verifies evidence of a payment without the service that wrote it: no network, no dependencies, Node 18.4 or a browser.
 *
 * node verify-evidence.mjs [--key <public key as hex>] <file>...
 *
 * A file is an evidence pack, or heads in the format of /payment-api/proof/heads and /payment-api/proof/head. Everything here is
 * implemented from docs/audit/evidence.md: it shares no code with the service.
 */

const packFormat = 'payment-intents evidence v1';

class NotProven extends Error {}

const need = (good, message) => {
  if (!good) throw new NotProven(message);
};

// ── Bytes, hashes, signatures ────────────────────────────────────────────────────────────────────────────────────────

const cryptoOf = async () => globalThis.crypto?.subtle ?? (await import('node:crypto')).webcrypto.subtle;
const utf8 = (text) => new TextEncoder().encode(text);
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const isHex = (text, length) => typeof text === 'string' && text.length === 2 * length && /^[0-9a-f]*$/.test(text);

function bytesOf(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

function joined(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const sha256 = async (bytes) => new Uint8Array(await (await cryptoOf()).digest('SHA-256', bytes));

async function isSigned(publicKey, text, signature) {
  if (!isHex(publicKey, 32) || !isHex(signature, 64)) return false;
  const subtle = await cryptoOf();
  try {
    const key = await subtle.importKey('raw', bytesOf(publicKey), { name: 'Ed25519' }, false, ['verify']);
    return await subtle.verify({ name: 'Ed25519' }, key, bytesOf(signature), utf8(text));
  } catch {
    return false;
  }
}

// ── Heads ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Fields of an entry in the order in which they are stored, and the title and lines that are signed. */
const kinds = {
  HeadSigned: {
    fields: [
      'position',
      'until',
      'events',
      'streams',
      'categories',
      'root',
      'publicKey',
      'number',
      'previous',
      'keySince',
      'signature',
    ],
    title: 'payment-intents head v1',
    lines: [
      'number',
      'position',
      'until',
      'events',
      'streams',
      'categories',
      'root',
      'previous',
      'publicKey',
      'keySince',
    ],
  },
  HeadKeyChanged: {
    fields: ['number', 'position', 'previous', 'publicKey', 'formerKey', 'signature', 'formerSignature'],
    title: 'payment-intents head key changed v1',
    lines: ['number', 'position', 'previous', 'formerKey', 'publicKey'],
  },
  HeadKeyLost: {
    fields: ['number', 'position', 'previous', 'publicKey', 'formerKey', 'signature', 'reason'],
    title: 'payment-intents head key lost v1',
    lines: ['number', 'position', 'previous', 'formerKey', 'publicKey', 'reason'],
  },
  HeadAnchored: {
    fields: [
      'number',
      'position',
      'previous',
      'publicKey',
      'keySince',
      'head',
      'headHash',
      'chainId',
      'account',
      'transaction',
      'ledger',
      'signature',
    ],
    title: 'payment-intents head anchored v1',
    lines: [
      'number',
      'position',
      'previous',
      'publicKey',
      'keySince',
      'head',
      'headHash',
      'chainId',
      'account',
      'transaction',
      'ledger',
    ],
  },
};

const written = {
  categories: (names) => names.join(','),
  previous: (hash) => hash ?? 'none',
  reason: (text) => JSON.stringify(text),
};

function textOfEntry({ type, data }) {
  const { title, lines } = kinds[type];
  const line = (name) => `${name} ${(written[name] ?? String)(data[name])}`;
  return [title, ...lines.map(line)].map((each) => `${each}\n`).join('');
}

const isText = (value, pattern) => typeof value === 'string' && pattern.test(value);

const shapes = {
  number: (value) => Number.isSafeInteger(value) && value > 0,
  keySince: (value) => Number.isSafeInteger(value) && value > 0,
  position: (value) => isText(value, /^[0-9]{1,20}$/),
  events: (value) => isText(value, /^[0-9]{1,20}$/),
  streams: (value) => isText(value, /^[0-9]{1,20}$/),
  until: (value) => isText(value, /^[0-9TZ:.-]{24}$/),
  categories: (value) => Array.isArray(value) && value.every((name) => isText(name, /^[A-Za-z]{1,40}$/)),
  root: (value) => isHex(value, 32),
  previous: (value) => value === null || isHex(value, 32),
  publicKey: (value) => isHex(value, 32),
  formerKey: (value) => isHex(value, 32),
  reason: (value) => typeof value === 'string',
  signature: (value) => isHex(value, 64),
  formerSignature: (value) => isHex(value, 64),
  head: (value) => Number.isSafeInteger(value) && value > 0,
  headHash: (value) => isHex(value, 32),
  chainId: (value) => Number.isSafeInteger(value) && value > 0,
  account: (value) => isText(value, /^[A-Za-z0-9]{1,128}$/),
  transaction: (value) => isText(value, /^[A-Za-z0-9]{1,128}$/),
  ledger: (value) => isText(value, /^[0-9]{1,20}$/),
};

/** The entry with its own fields and no other; signed by the key that it names. */
async function readEntry(entry, where) {
  const kind = isText(entry?.type, /^/) && Object.hasOwn(kinds, entry.type) ? kinds[entry.type] : undefined;
  need(kind && typeof entry.data === 'object' && entry.data !== null, `${where}: an entry is none of heads`);
  const names = Object.keys(entry.data);
  need(names.length === kind.fields.length, `${where}: an entry has other fields than it should`);
  for (const name of kind.fields) {
    const good = Object.hasOwn(entry.data, name) && shapes[name](entry.data[name]);
    need(good, `${where}: entry ${shapes.number(entry.data.number) ? entry.data.number : '?'} has no good ${name}`);
  }
  const clean = { type: entry.type, data: Object.fromEntries(names.map((name) => [name, entry.data[name]])) };
  const text = textOfEntry(clean);
  const { number, publicKey, formerKey, signature, formerSignature } = clean.data;
  need(await isSigned(publicKey, text, signature), `${where}: entry ${number} is not signed by key ${publicKey}`);
  if (clean.type === 'HeadKeyChanged')
    need(
      await isSigned(formerKey, text, formerSignature),
      `${where}: entry ${number} is not signed by key ${formerKey}`,
    );
  return { ...clean, where, hash: hexOf(await sha256(utf8(text))) };
}

const keyBefore = ({ data }) => data.formerKey ?? data.publicKey;

/** Checks that all entries belong to one chain, as far as they are adjacent. @returns gaps between the given numbers */
function checkChain(entries) {
  const byNumber = new Map();
  for (const entry of entries) {
    const same = byNumber.get(entry.data.number);
    if (same)
      need(
        same.hash === entry.hash,
        `FORK: ${same.where} and ${entry.where} have two different entries of number ${entry.data.number}`,
      );
    else byNumber.set(entry.data.number, entry);
  }
  const chain = [...byNumber.values()].sort((a, b) => a.data.number - b.data.number);
  const gaps = [];
  chain.forEach((entry, at) => {
    const before = chain[at - 1];
    if (entry.data.number === 1) need(entry.data.previous === null, 'entry 1 follows another one');
    if (!before) return;
    const [number, last] = [entry.data.number, before.data.number];
    const moved = BigInt(entry.data.position) - BigInt(before.data.position);
    need(
      entry.type === 'HeadSigned' ? moved > 0n : moved >= 0n,
      `FORK: entry ${number} covers less of the log than entry ${last}`,
    );
    if (number !== last + 1) {
      gaps.push([last, number]);
      return;
    }
    need(entry.data.previous === before.hash, `FORK: entry ${number} does not follow entry ${last} as it was given`);
    need(keyBefore(entry) === before.data.publicKey, `entry ${number} is of another key than entry ${last}`);
  });
  checkAnchors(chain);
  checkGivenUp(chain);
  return { chain, gaps };
}

/** An anchor is of a head before it, whose hash is the memo. */
function checkAnchors(chain) {
  const byNumber = new Map(chain.map((entry) => [entry.data.number, entry]));
  for (const { type, data } of chain) {
    if (type !== 'HeadAnchored') continue;
    const head = byNumber.get(data.head);
    need(data.head < data.number, `entry ${data.number} tells of an anchor before its head was signed`);
    need(
      !head || (head.type === 'HeadSigned' && head.hash === data.headHash),
      `FORK: entry ${data.number} tells of another head ${data.head} than was given`,
    );
  }
}

/**
 * Newest anchor of a head, or of a later one connected by given entries: each contains the hash of the previous one, so the memo vouches
 * for all of them. Null if there is none.
 */
export function anchorOf({ chain, gaps }, { data: { number } }) {
  const [next = [Number.POSITIVE_INFINITY]] = gaps.filter(([from]) => from >= number);
  const anchors = chain.filter(
    ({ type, data }) => type === 'HeadAnchored' && data.head >= number && data.head <= next[0],
  );
  return anchors.at(-1)?.data ?? null;
}

/** The auditor's key, and those whose succession it signed. A lost key proves nothing. */
function trustedKeys(key, chain) {
  const trusted = new Set([key]);
  for (const { type, data } of chain)
    if (type === 'HeadKeyChanged' && trusted.has(data.formerKey)) trusted.add(data.publicKey);
  return trusted;
}

/** A key that was given up signs nothing any more, also where entries in between were not given. */
function checkGivenUp(chain) {
  const givenUp = new Map();
  for (const { data } of chain) {
    // A later entry may use it again.
    if (data.formerKey !== undefined) givenUp.delete(data.publicKey);
    const since = givenUp.get(data.publicKey);
    need(
      since === undefined,
      `FORK: entry ${data.number} is signed by key ${data.publicKey}, which entry ${since} gave up`,
    );
    if (data.formerKey !== undefined && data.formerKey !== data.publicKey) givenUp.set(data.formerKey, data.number);
  }
}

// ── Packs ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const eventFields = ['id', 'type', 'data', 'metadata'];

/** The only valid form of the pack, byte by byte: additional or repeated fields are not proven. */
function canonical({ stream, events, way, head }) {
  const plain = events.map((event) => Object.fromEntries(eventFields.map((name) => [name, event[name]])));
  return `${JSON.stringify({ format: packFormat, stream, events: plain, way, head: { type: head.type, data: head.data } }, null, 2)}\n`;
}

/** The hash of each event, which the next one names. */
async function linksOf(stream, events) {
  let link = null;
  for (const [revision, { id, type, data, metadata }] of events.entries()) {
    const { prev } = readExactly(metadata, `the metadata of event ${revision}`);
    readExactly(data, `the data of event ${revision}`);
    need(prev === link, `event ${revision} does not follow the one before it`);
    const parts = [stream, String(revision), id, type, data, metadata];
    link = hexOf(await sha256(utf8(parts.map((part) => `${utf8(part).length}:${part}`).join(''))));
  }
  return link;
}

async function rootOver(stream, events, way) {
  const key = await sha256(utf8(stream));
  const link = await linksOf(stream, events);
  const revision = new Uint8Array(8);
  new DataView(revision.buffer).setBigUint64(0, BigInt(events.length - 1));
  let hash = await sha256(joined(Uint8Array.of(0), key, revision, bytesOf(link)));
  for (let depth = way.length - 1; depth >= 0; depth -= 1) {
    const right = (key[depth >> 3] >> (7 - (depth & 7))) & 1;
    const beside = bytesOf(way[depth]);
    hash = await sha256(right ? joined(Uint8Array.of(1), beside, hash) : joined(Uint8Array.of(1), hash, beside));
  }
  return hexOf(hash);
}

async function readPack(pack, text, where) {
  const { stream, events, way } = pack;
  need(typeof stream === 'string' && /^[A-Za-z]{1,40}-/.test(stream), `${where}: the pack names no stream`);
  const whole = (event) => eventFields.every((name) => typeof event?.[name] === 'string');
  need(Array.isArray(events) && events.length > 0 && events.every(whole), `${where}: the pack’s events are not whole`);
  need(
    Array.isArray(way) && way.length <= 256 && way.every((hash) => isHex(hash, 32)),
    `${where}: the way to the root is none`,
  );
  const head = await readEntry(pack.head, where);
  need(head.type === 'HeadSigned', `${where}: the pack has no head`);
  need(
    text === canonical({ stream, events, way, head }),
    `${where}: the pack holds more than what is proven, or is written otherwise`,
  );
  need(
    head.data.categories.includes(stream.slice(0, stream.indexOf('-'))),
    `${where}: the head does not cover such streams`,
  );
  need(
    (await rootOver(stream, events, way)) === head.data.root,
    `${where}: the events do not lead to the root that was signed`,
  );
  return {
    where,
    stream,
    head,
    events: events.map(({ type, data, metadata }) => ({ type, data: JSON.parse(data), at: JSON.parse(metadata).at })),
  };
}

/** A payment's stream has 20,000 events at most. */
const textMax = 64 * 1024 * 1024;
const tooLarge = (where) => `${where} is larger than any evidence: at most ${textMax} bytes are read`;

/** Evidence is nested about 10 deep. Formatting much deeper data takes quadratic time. */
const depthMax = 100;

/** Returns how deep brackets outside of strings are nested; stops above `depthMax`. */
function depthOf(text) {
  let [depth, deepest, inString] = [0, 0, false];
  for (let at = 0; at < text.length && deepest <= depthMax; at += 1) {
    const character = text[at];
    if (character === '"') inString = !inString;
    else if (inString) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

function readJson(text, where) {
  need(text.length <= textMax, tooLarge(where));
  need(depthOf(text) <= depthMax, `${where} is nested deeper than any evidence`);
  try {
    return JSON.parse(text);
  } catch {
    throw new NotProven(`${where} is no JSON`);
  }
}

/**
 * Not what another reader may read as something else: a key twice, a number that is not exact here, or nested without end.
 * @param layouts as JSON.stringify has them
 */
function readExactly(text, where, layouts = [0]) {
  const value = readJson(text, where);
  let same;
  try {
    same = layouts.some((space) => JSON.stringify(value, null, space) === text);
  } catch {
    throw new NotProven(`${where} is nested deeper than any evidence`);
  }
  need(same, `${where} may be read in two ways: a key stands twice, or a value is written in another form`);
  return value;
}

/** As in an answer, or formatted by tools. */
const anyLayout = [0, 2, 4, '\t'];

/**
 * A stream under a later head begins with all its events under an earlier one: otherwise two histories were published, or events withdrawn.
 */
function checkHistories(packs) {
  for (const [of, same] of Map.groupBy ? Map.groupBy(packs, ({ stream }) => stream) : grouped(packs)) {
    const sorted = [...same].sort((a, b) => a.head.data.number - b.head.data.number);
    sorted.forEach((pack, at) => {
      const later = sorted[at + 1];
      if (!later) return;
      const start = JSON.stringify(later.events.slice(0, pack.events.length));
      need(start === JSON.stringify(pack.events), `FORK: ${pack.where} and ${later.where} tell two histories of ${of}`);
    });
  }
}

function grouped(packs) {
  const groups = new Map();
  for (const pack of packs) groups.set(pack.stream, [...(groups.get(pack.stream) ?? []), pack]);
  return groups;
}

/**
 * @param files `{ name, text }` of each
 * @param key the auditor's own copy of the public key, as hex. Default: the heads' own key
 * @throws NotProven with the failed check
 */
export async function verifyEvidence(files, { key } = {}) {
  const [packs, entries] = [[], []];
  for (const { name, text } of files) {
    const read = readJson(text, name);
    if (read?.format === packFormat) {
      packs.push(await readPack(read, text, name));
      entries.push(packs.at(-1).head);
    } else {
      readExactly(text.trim(), name, anyLayout);
      const heads = Array.isArray(read?.data) ? read.data : [read];
      for (const entry of heads) entries.push(await readEntry(entry, name));
    }
  }
  need(entries.length > 0, 'nothing was given to check');
  const { chain, gaps } = checkChain(entries);
  checkHistories(packs);
  const trusted = key === undefined ? null : trustedKeys(key, chain);
  for (const { data, type } of chain)
    need(
      trusted === null || trusted.has(data.publicKey),
      `entry ${data.number} (${type}) is of key ${data.publicKey}, which the key that you gave does not vouch for`,
    );
  return { packs, chain, gaps, key: key ?? null };
}

// ── Output for people ──────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Texts of a pack are foreign: characters that control the terminal, begin a line, change the direction or are invisible are printed as
 * numbers, and so is the backslash of a literal number.
 */
const visible = (text) =>
  text.replace(
    /\\(?=u\{)|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (each) => `\\u{${each.codePointAt(0).toString(16)}}`,
  );

/** Transactions in events, with their explorers. */
export function transactionsIn(events) {
  const found = new Map();
  const signed = new Map();
  for (const { type, data } of events) {
    const { transfer } = data;
    if (transfer)
      found.set(`${transfer.chainId} ${transfer.txHash}`, {
        what: type,
        chain: transfer.chainId,
        hash: transfer.txHash,
        block: transfer.blockNumber,
      });
    if (data.hash && data.chainId) signed.set(data.hash, data.chainId);
    if (data.hash) {
      const chain = data.chainId ?? signed.get(data.hash) ?? '?';
      found.set(`${chain} ${data.hash}`, {
        what: type,
        chain,
        hash: data.hash,
        block: data.blockNumber ?? 'not on its chain by this event',
      });
    }
  }
  return [...found.values()];
}

/** @param verified what verifyEvidence answered */
export function reportOf({ packs, chain, gaps, key }) {
  const anchors = new Map(packs.map((pack) => [pack, anchorOf({ chain, gaps }, pack.head)]));
  const newest = chain.at(-1);
  const row = (name, value) => `  ${name.padEnd(16)}${value}`;
  const lines = [];
  for (const pack of packs) {
    const { stream, events, head } = pack;
    lines.push(`${stream}: proven`);
    lines.push(row('events', `${events.length}, each names the hash of the one before it`));
    for (const { at, type } of events) lines.push(row('', `${at}  ${type}`));
    lines.push(
      row(
        'is in head',
        `${head.data.number}: ${head.data.streams} streams, ${head.data.events} events, up to ${head.data.until}`,
      ),
    );
    for (const { what, chain: id, hash, block } of transactionsIn(events))
      lines.push(row('transaction', `chain ${id}, block ${block}, ${hash} (${what})`));
    const anchor = anchors.get(pack);
    if (anchor)
      lines.push(
        row('anchor', `chain ${anchor.chainId}, ledger ${anchor.ledger}, ${anchor.transaction} of ${anchor.account}`),
        row('', `its memo is to be the hash ${anchor.headHash}, of head ${anchor.head}`),
      );
  }
  const numbers = chain.map(({ data }) => data.number);
  lines.push(`heads: ${numbers.length > 6 ? `${numbers[0]} to ${numbers.at(-1)}` : numbers.join(', ')}`);
  lines.push(row('signed by', `${newest.data.publicKey}${key === null ? '' : ', which your key vouches for'}`));
  lines.push('what this cannot tell you:');
  if (key === null)
    lines.push(row('whose key', 'nobody gave --key: compare the key with the one that the operator has published'));
  for (const [from, to] of gaps)
    lines.push(row('heads', `whether ${to} follows ${from}: add /payment-api/proof/heads?after=${from - 1}`));
  for (const { data } of chain.filter(({ type }) => type === 'HeadKeyLost'))
    lines.push(row('key', `whether the key before entry ${data.number} was lost: “${data.reason}”`));
  lines.push(
    row('other copies', 'whether everybody was shown the same head: compare it with one that somebody else has kept'),
  );
  lines.push(row('chains', 'whether the transactions are on their chains: ask any node for them by hash'));
  if ([...anchors.values()].some(Boolean))
    lines.push(row('anchors', 'whether the memo is on its chain: ask any node for the transaction, and compare'));
  lines.push(row('times', 'whether the clock of the service was right, and what happened after the head'));
  return lines.map(visible).join('\n');
}

/** A file without a size, such as a pipe, might never end. */
async function readText(name) {
  const { readFileSync, statSync } = await import('node:fs');
  const stat = statSync(name);
  need(stat.isFile(), `${name} is no file: save it as one first`);
  need(stat.size <= textMax, tooLarge(name));
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(readFileSync(name));
  } catch (error) {
    throw error instanceof TypeError ? new NotProven(`${name} is no UTF-8 text`) : error;
  }
}

async function main(args) {
  const at = args.indexOf('--key');
  const key = at < 0 ? undefined : args[at + 1];
  const names = args.filter((_, index) => at < 0 || (index !== at && index !== at + 1));
  if (names.length === 0 || (at >= 0 && !isHex(key, 32))) {
    console.error('usage: verify-evidence [--key <public key, 64 hex digits>] <pack or heads>...');
    return 2;
  }
  try {
    const files = [];
    for (const name of names) files.push({ name, text: await readText(name) });
    console.log(reportOf(await verifyEvidence(files, { key })));
    return 0;
  } catch (error) {
    console.error(`NOT PROVEN: ${visible(String(error instanceof Error ? error.message : error))}`);
    return 1;
  }
}

const isProgram = async () => {
  if (typeof process === 'undefined' || !process.argv?.[1]) return false;
  const { realpathSync } = await import('node:fs');
  const { pathToFileURL } = await import('node:url');
  return import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href;
};
if (await isProgram()) process.exitCode = await main(process.argv.slice(2));
