/** `npm run docs`: writes the generated documents anew. A test compares them with what is committed. */
import { writeFileSync } from 'node:fs';
import { eventCatalogue } from './catalogue.ts';

const file = new URL('./events.md', import.meta.url);
writeFileSync(file, `${eventCatalogue()}\n`);
console.log('docs/events.md written');
