import { type ProgramOutput, programOutput } from "../../commands/connection/program-output.ts";
import type { Screen } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";

/** Shows the lines of servers. */
type LineScreen = Pick<Screen, "note" | "err">;

/** The stderr of the started servers. */
export interface ServerOutputs {
  /** Takes a part of the stderr of a server. */
  write(this: void, server: string, chunk: string): void;
  /** Returns the last lines of a server that were not returned before, without secrets. Empty if each line is shown as it arrives. */
  takeTail(this: void, server: string): string;
  /** Shows later lines in another place, such as above the input of a chat. */
  showOn(this: void, screen: LineScreen): void;
}

/** Collects the stderr of servers. `isLive` shows each line as it arrives. */
export function serverOutputs(screen: LineScreen, isLive: boolean): ServerOutputs {
  const outputs = new Map<string, ProgramOutput>();
  let shownOn = screen;
  const present: LineScreen = {
    note: (text) => shownOn.note(text),
    get err() {
      return shownOn.err;
    },
  };
  return {
    write(server, chunk) {
      const output =
        outputs.get(server) ?? programOutput(present, { isLive, label: `stderr of ${visibleLine(server)}` });
      outputs.set(server, output);
      output.write(chunk);
    },
    takeTail(server) {
      if (isLive) return "";
      const tail = outputs.get(server)?.tail() ?? "";
      outputs.delete(server);
      return tail;
    },
    showOn: (newScreen) => (shownOn = newScreen),
  };
}
