/** The exit codes of the commands. A code never changes its meaning. */
export const exitCodes = {
  ok: 0,
  usage: 1,
  protocol: 2,
  authorization: 3,
  unreachable: 4,
  toolError: 5,
  timeout: 6,
  declined: 7,
  incomplete: 8,
  internal: 70,
  interrupted: 130,
  terminated: 143,
} as const;

/** One line for each exit code, as the help shows them. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.usage, "the command line, or a file it names, is wrong; no call was made"],
  [exitCodes.protocol, "the server refused the request, or broke the protocol"],
  [exitCodes.authorization, "the server wants you to sign in, or gives you too few rights"],
  [exitCodes.unreachable, "no connection, or it was lost"],
  [exitCodes.toolError, "the tool ran and failed"],
  [exitCodes.timeout, "no answer in time"],
  [
    exitCodes.declined,
    "you said no, a yes was needed and nobody could be asked, or nobody answered a question of the server",
  ],
  [exitCodes.incomplete, "chat: a limit or the model's provider ended the answer early"],
  [exitCodes.internal, "mcparley itself failed: please report it"],
  [exitCodes.interrupted, "ended with Ctrl-C"],
  [exitCodes.terminated, "ended with SIGTERM"],
];
