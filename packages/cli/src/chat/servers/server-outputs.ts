import { type ProgramOutput, programOutput } from "../../client/program-output.ts";
import type { Screen } from "../../client/screen.ts";

/** The stderr of the started servers. */
export interface ServerOutputs {
  /** Takes a part of the stderr of a server. */
  write(this: void, server: string, chunk: string): void;
  /** Returns the last lines of a server, without secrets. Empty if it wrote none. */
  tail(this: void, server: string): string;
}

/** Collects the stderr of servers. `isLive` shows each line as it arrives. */
export function serverOutputs(screen: () => Pick<Screen, "note" | "err">, isLive: boolean): ServerOutputs {
  const outputs = new Map<string, ProgramOutput>();
  return {
    write(server, chunk) {
      const output = outputs.get(server) ?? programOutput(screen(), isLive);
      outputs.set(server, output);
      output.write(chunk);
    },
    tail: (server) => outputs.get(server)?.tail() ?? "",
  };
}
