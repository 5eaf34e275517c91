/** Thread of one regular expression (expressions.ts): reports that it is ready, then returns for each list of texts which of them match. */
import { parentPort, workerData } from 'node:worker_threads';

const pattern = new RegExp(String(workerData));
parentPort?.on('message', (texts: readonly string[]) => {
  parentPort?.postMessage(texts.map((text) => pattern.test(text)));
});
parentPort?.postMessage('ready');
