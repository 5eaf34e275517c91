/** Examples of a call in curl, TypeScript and Python. Each is complete: it runs as it is, with a key in PAYMENTS_KEY. */

import type { DocumentJson } from '../../src/api/openapi/components.ts';
import { type ApiOperation, type Reference, resolve } from './operations.ts';

export const exampleLanguages = ['curl', 'typescript', 'python'] as const;
export type ExampleLanguage = (typeof exampleLanguages)[number];

/** The reader's app and key; null means a placeholder. */
export interface ExampleReader {
  readonly appId: string | null;
  /** Prefix and last characters of a key. The service does not know the rest. */
  readonly keyHint: string | null;
}

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Name of the variable that holds the credential, with its header. */
  readonly secret: { readonly variable: string; readonly header: string; readonly prefix: string } | null;
  readonly body: unknown;
  readonly isJson: boolean;
}

/** Null for a webhook, which the service sends. */
export function exampleOf(
  reference: Reference,
  operation: ApiOperation,
  language: ExampleLanguage,
  reader: ExampleReader,
): string | null {
  if (operation.path === null) return null;
  const call = callOf(reference, operation, operation.path, reader);
  const note =
    call.secret?.variable === 'PAYMENTS_KEY' && reader.keyHint !== null ? ` Your key is ${reader.keyHint}.` : '';
  const about = call.secret && `Set ${call.secret.variable} first.${note}`;
  return writers[language](call, about);
}

function callOf(reference: Reference, operation: ApiOperation, path: string, reader: ExampleReader): Call {
  const { document, url } = reference;
  const { credential, body, method, answers } = operation;
  const values = (name: string) => (name === 'appId' ? (reader.appId ?? 'merchant_teahouse') : `<${name}>`);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values(name));
  const isFile = body !== null && body.type !== 'application/json';
  const needsApp = operation.description.includes('X-App-Id') && reader.appId !== null;
  return {
    method,
    url: `${url}${filled}`,
    headers: [
      ...(needsApp ? [['X-App-Id', reader.appId ?? ''] as const] : []),
      ...(body ? [['Content-Type', isFile ? body.type : 'application/json'] as const] : []),
    ],
    secret: secretOf(credential, reader),
    body: body && !isFile ? ownApp(sampleOf(document, body.schema), reader) : isFile ? undefined : null,
    isJson: answers[0]?.type === 'application/json',
  };
}

function secretOf(credential: ApiOperation['credential'], { keyHint }: ExampleReader): Call['secret'] {
  if (credential === 'person') return { variable: 'PAYMENTS_TOKEN', header: 'Authorization', prefix: 'Bearer ' };
  if (credential === 'key' || (credential === 'optional' && keyHint !== null))
    return { variable: 'PAYMENTS_KEY', header: 'X-API-Key', prefix: '' };
  return null;
}

const ownApp = (sample: unknown, { appId }: ExampleReader): unknown =>
  appId !== null && typeof sample === 'object' && sample !== null && 'appId' in sample ? { ...sample, appId } : sample;

const depthMax = 6;

/** The schema's example, or one made from its required fields. A text without an example is a placeholder in angle brackets. */
export function sampleOf(document: DocumentJson, schema: DocumentJson, name = 'value', depth = 0): unknown {
  const found = resolve(document, schema);
  const { examples, default: usual, const: only, enum: values, properties, required, items, anyOf } = found;
  if (Array.isArray(examples)) return examples[0];
  if (usual !== undefined) return usual;
  if (only !== undefined) return only;
  if (Array.isArray(values)) return values[0];
  if (depth >= depthMax) return null;
  if (Array.isArray(anyOf)) return sampleOf(document, anyOf[0] as DocumentJson, name, depth + 1);
  if (items !== undefined) return [sampleOf(document, items as DocumentJson, name, depth + 1)];
  const type = [found['type']].flat()[0];
  if (properties !== undefined) {
    const needed = (required ?? []) as readonly string[];
    const each = properties as Readonly<Record<string, DocumentJson>>;
    return Object.fromEntries(needed.map((field) => [field, sampleOf(document, each[field] ?? {}, field, depth + 1)]));
  }
  if (type === 'integer' || type === 'number') return found['minimum'] ?? 1;
  if (type === 'boolean') return true;
  return type === 'object' ? {} : `<${name}>`;
}

type Writer = (call: Call, about: string | null) => string;

/** Quotes for a POSIX shell. */
const shell = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
const json = (value: unknown, indent: number): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(indent)}`);

const writeCurl: Writer = ({ method, url, headers, secret, body }, about) => {
  const lines = [
    `curl --fail-with-body -X ${method} ${shell(url)}`,
    ...(secret ? [`-H "${secret.header}: ${secret.prefix}$${secret.variable}"`] : []),
    ...headers.map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
    ...(body === undefined ? ['--data-binary @logo.png'] : body === null ? [] : [`-d ${shell(json(body, 0))}`]),
  ];
  return `${about ? `# ${about}\n` : ''}${lines.join(' \\\n  ')}`;
};

const writeTypeScript: Writer = ({ method, url, headers, secret, body, isJson }, about) => {
  const secretText = secret && `${secret.prefix ? `'${secret.prefix}' + ` : ''}(process.env.${secret.variable} ?? '')`;
  const all = [
    ...(secret ? [`'${secret.header}': ${secretText},`] : []),
    ...headers.map(([name, value]) => `'${name}': ${JSON.stringify(value)},`),
  ];
  const sent =
    body === undefined
      ? "\n  body: await readFile('logo.png'),"
      : body === null
        ? ''
        : `\n  body: JSON.stringify(${json(body, 2)}),`;
  const head = all.length > 0 ? `\n  headers: {\n    ${all.join('\n    ')}\n  },` : '';
  return `${about ? `// ${about}\n` : ''}${body === undefined ? "import { readFile } from 'node:fs/promises';\n\n" : ''}const answer = await fetch(${JSON.stringify(url)}, {
  method: '${method}',${head}${sent}
});
if (!answer.ok) throw new Error(\`\${answer.status} \${await answer.text()}\`);
console.log(await answer.${isJson ? 'json' : 'text'}());`;
};

const writePython: Writer = ({ method, url, headers, secret, body, isJson }, about) => {
  const all = [
    ...(secret
      ? [`"${secret.header}": ${secret.prefix ? `"${secret.prefix}" + ` : ''}os.environ["${secret.variable}"],`]
      : []),
    ...headers.map(([name, value]) => `"${name}": ${JSON.stringify(value)},`),
  ];
  const sent =
    body === undefined
      ? '\n    data=open("logo.png", "rb").read(),'
      : body === null
        ? ''
        : `\n    data=json.dumps(${python(body, 4)}).encode(),`;
  const head = all.length > 0 ? `\n    headers={\n        ${all.join('\n        ')}\n    },` : '';
  return `import json
import os
import urllib.request

${about ? `# ${about}\n` : ''}request = urllib.request.Request(
    ${JSON.stringify(url)},
    method="${method}",${head}${sent}
)
with urllib.request.urlopen(request, timeout=30) as answer:
    print(${isJson ? 'json.load(answer)' : 'answer.read().decode()'})`;
};

/** A literal of Python. */
function python(value: unknown, indent: number): string {
  const [outer, inner] = [' '.repeat(indent), ' '.repeat(indent + 4)];
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const rows = Array.isArray(value)
    ? value.map((each) => python(each, indent + 4))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${python(each, indent + 4)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return rows.length === 0 ? `${open}${close}` : `${open}\n${inner}${rows.join(`,\n${inner}`)},\n${outer}${close}`;
}

const writers: Readonly<Record<ExampleLanguage, Writer>> = {
  curl: writeCurl,
  typescript: writeTypeScript,
  python: writePython,
};
