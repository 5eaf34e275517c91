import { readFileSync } from 'node:fs';

/** The style sheet that the command puts into the page. */
export const reportSheet = ['web/look.css', 'tools/report/report.css']
  .map((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'))
  .join('\n');
