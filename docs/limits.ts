/** Makes docs/limits.md from the table that the OpenAPI document has as well. */
import { limitsTable } from '../src/http/limits.ts';

export const limitsDocument = (): string => `# Limits

Made by \`npm run docs\` from the constants in the code; do not edit. The API's document at \`/openapi.json\` has the same table. Those of
connections, times, rates and the signer are the defaults of settings: \`.env.example\`.

${limitsTable()}

Every refusal is \`{ error, message, requestId, errors: [{ pointer, message }] }\`: \`pointer\` names the field, \`message\` says what to do.
Numbers in \`metadata\` come back as JavaScript reads them: send those of more than 15 digits as text.`;
