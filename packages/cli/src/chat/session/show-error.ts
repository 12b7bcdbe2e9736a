import { LocalError, printable } from "mcparley";
import { UsageError } from "../../client/io.ts";
import { paragraph } from "../../client/screen.ts";
import type { ChatTerminal } from "../terminal/terminal.ts";

/** Shows why a command or a message failed, with the cure if it is known. */
export function showError(error: unknown, { terminal }: { terminal: ChatTerminal }): void {
  const { view } = terminal;
  const text = error instanceof Error ? error.message : String(error);
  terminal.note(view.style.red(paragraph(printable(text), view)));
  const hint =
    error instanceof UsageError
      ? error.hint
      : error instanceof LocalError && error.code === "not_capable"
        ? notCapable
        : undefined;
  if (hint !== undefined) terminal.note(paragraph(printable(hint), view, "  "));
}

const notCapable = "/servers shows what each server offers.";
