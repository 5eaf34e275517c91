/** Rules of the writing guide that a program can check, for code and for docs. */

/** Beginnings without a subject, and subjects that are clauses: the guide asks for a noun or a verb. */
export const refusedBeginnings =
  /^(@\w+ \w+ )?(What|Whatever|Who|Whom|Whose|Whoever|Whichever|Of|Told|Those (that|who|of|which)|That (it|a|an|the|all|of)|So (many|much|long|often))\b/;

/** Beginnings of a spec's title that are no predicate and no noun. A title may be in lower case. */
export const refusedTitles =
  /^(what|whatever|who|whom|whose|whoever|whichever|that|those|of|told|so (many|much|long|often))\b/i;

/** Words of a private dialect, each of which has a usual word in the guide's table. */
export const dialect =
  /\b(told|tells? of|whoever|by itself|by themselves|way back|gone back on|made[- ]up|made anew|mend(s|ed|ing)?|reckon(s|ed|ing)?|nobody's|left out|now and then)\b/i;

/** Returns the comments of a source text that stand on lines of their own; wrapped lines are joined. */
export function commentsIn(text: string): readonly string[] {
  const comments: string[] = [];
  let lines: string[] = [];
  let isBlock = false;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (isBlock || line.startsWith('/*')) {
      isBlock = !line.endsWith('*/');
      lines.push(line.replace(/^\/\*+|^\*+(?!\/)|\*+\/$/g, '').trim());
      if (!isBlock) end();
    } else if (line.startsWith('// ')) lines.push(line.slice(3));
    else end();
  }
  end();
  return comments;

  function end(): void {
    const comment = lines.join(' ').replaceAll(/\s+/g, ' ').trim();
    if (comment !== '') comments.push(comment);
    lines = [];
  }
}

/** Returns the titles of the describe and it blocks in a spec's source text. */
export function titlesIn(text: string): readonly string[] {
  const calls = text.matchAll(/\b(?:describe\w*|it)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs);
  return [...calls].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1'));
}

/** Returns the names that a source text declares and exports; names that it passes on are not among them. */
export function exportsIn(text: string): readonly string[] {
  return [
    ...text.matchAll(/^export (?:abstract |async )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm),
    ...text.matchAll(/^export const ()\{([^}]*)\}/gm),
  ].flatMap(([, name, names]) =>
    name ? [name] : (names ?? '').split(',').flatMap((part) => part.split(':').at(-1)?.split('=')[0]?.trim() || []),
  );
}
