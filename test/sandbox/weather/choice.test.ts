import assert from 'node:assert/strict';
import { chosenWeather } from '../../../sandbox/weather/choice.ts';
import { presetNamed, presets } from '../../../sandbox/weather/presets.ts';
import { checkWeather } from '../../../sandbox/weather/quirks.ts';

describe('the weather of a sandbox', () => {
  it('is calm unless the command or the variable requests another', () => {
    assert.equal(chosenWeather(undefined, undefined), 'calm');
    assert.equal(chosenWeather(undefined, ' '), 'calm');
    assert.equal(chosenWeather(undefined, 'rough'), 'rough');
    assert.equal(chosenWeather('rough', undefined), 'rough');
    assert.equal(chosenWeather('calm', 'rough'), 'calm');
  });

  it('is an existing one', () => {
    assert.throws(() => chosenWeather('foul', undefined), /--weather foul: choose from calm, rough/);
    assert.throws(() => chosenWeather(undefined, 'foul'), /choose from calm, rough/);
    assert.throws(() => presetNamed('foul'), /foul is no weather/);
  });

  it('has quirks that the nodes of each family are known for', () => {
    for (const { nodes } of Object.values(presets)) {
      for (const family of ['evm', 'solana', 'stellar'] as const) {
        for (const weather of nodes[family]) checkWeather(weather, family);
      }
    }
  });
});
