import { parseArgs } from 'node:util';
import { type PresetName, presetNames } from './presets.ts';

/**
 * The weather that a sandbox is asked for: `--weather rough`, or the variable `WEATHER`; calm when neither says anything.
 *
 * @throws Error for one that there is not
 */
export function chosenWeather(args: readonly string[], setting: string | undefined): PresetName {
  const { values } = parseArgs({ args: [...args], options: { weather: { type: 'string' } } });
  const wanted = values.weather ?? (setting?.trim() || 'calm');
  const known = presetNames.find((name) => name === wanted);
  if (known) return known;
  throw new Error(`--weather ${wanted}: choose from ${presetNames.join(', ')}`);
}
