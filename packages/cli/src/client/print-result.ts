import type { Session } from "./session.ts";

/** Prints the one JSON document of `--json`. */
export async function printJson(value: unknown, session: Pick<Session, "screen">): Promise<void> {
  await session.screen.print(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints text and ends its last line. */
export async function printText(text: string, session: Pick<Session, "screen">): Promise<void> {
  if (text !== "") await session.screen.print(text.endsWith("\n") ? text : `${text}\n`);
}
