import type { CommandIo } from "../io.ts";
import type { ClientOptions } from "../options.ts";
import type { Screen } from "../screen.ts";
import type { Stop } from "../stop.ts";
import { Dismissed, type Prompter, openPrompter } from "./prompter.ts";

/** Where a person is talked with. */
export interface TalkSetting {
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly stop: Stop;
}

/** Whether a person is there to be asked. */
export function isAttended({ io, options }: { io: CommandIo; options: Pick<ClientOptions, "noInput"> }): boolean {
  return io.isTerminal.stdin && io.isTerminal.stderr && !options.noInput;
}

/** Opens the terminal for one talk; undefined where that is broken off, by the person or by the signal. */
export async function talk<T>(
  { io, screen, stop }: TalkSetting,
  signal: AbortSignal,
  run: (prompter: Prompter) => Promise<T>,
): Promise<T | undefined> {
  return screen.quietly(async () => {
    const prompter = openPrompter(io, AbortSignal.any([signal, stop.signal]), () => stop.interrupt());
    try {
      return await run(prompter);
    } catch (error) {
      if (!(error instanceof Dismissed)) throw error;
      // The key that ended the input has left the cursor behind the question.
      prompter.say("");
      return undefined;
    } finally {
      prompter.close();
    }
  });
}
