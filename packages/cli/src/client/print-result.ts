import type { Session } from "./session.ts";

/** Pretty over several lines, or on one. */
export type JsonForm = "document" | "line";

/** Prints the one JSON document of `--json`, or a line of many. */
export async function printJson(
  value: unknown,
  session: Pick<Session, "screen">,
  form: JsonForm = "document",
): Promise<void> {
  await session.screen.print(`${JSON.stringify(value, null, form === "line" ? 0 : 2)}\n`);
}

/** Prints text and ends its last line. */
export async function printText(text: string, session: Pick<Session, "screen">): Promise<void> {
  if (text !== "") await session.screen.print(text.endsWith("\n") ? text : `${text}\n`);
}
