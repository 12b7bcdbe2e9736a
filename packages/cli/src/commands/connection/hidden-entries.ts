/** The reason why a list can be empty, and the cure. */
export const mayHide: string =
  "A server can hide entries from callers that lack scopes. With a URL, sign in or send a token that has them. A program on stdio " +
  'has the scopes that its author sets: the option "principal" of serveStdio.';
