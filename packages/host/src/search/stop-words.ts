/** Words of a query without a relation to a tool. They are ignored unless the query has no other words. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all an and any are as at be been by can could did do does each else every for from get give had has have help here how
  i if in into is it its just let like me my need no not now of on or our over per please right show so some somebody someone
  something tell than that the then there these this those to us using via want was we were what when where which who whom
  why will with without works would yesterday today tomorrow weekend you your`.split(/\s+/),
);
