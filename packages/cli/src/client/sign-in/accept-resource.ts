import { Declined } from "mcparley";
import type { ResourceOffer } from "mcparley/auth";
import type { ClientOptions } from "../options.ts";
import { choose } from "../questions/ask-form.ts";
import { type TalkSetting, isAttended, talk } from "../questions/prompter.ts";
import { paragraph } from "../screen.ts";
import { visibleLine } from "../terminal-text.ts";

interface AcceptSetting extends TalkSetting {
  readonly options: Pick<ClientOptions, "noInput" | "resource">;
}

/**
 * Decides whether to request tokens for an identifier that is shorter than the URL of the server: by `--resource`, or by the
 * user at the terminal. Throws `Declined` if the user says no.
 */
export async function acceptResource({ server, resource }: ResourceOffer, setting: AcceptSetting): Promise<boolean> {
  const { options, screen, stop } = setting;
  if (options.resource !== undefined) return resource === options.resource;
  if (!isAttended(setting)) return false;
  const lines = [
    `${visibleLine(server)} asks for a token for all of ${visibleLine(resource)}.`,
    "Such a token may also be valid at other servers there, and this server could use it in your name.",
  ];
  const accepted = await talk(setting, stop.signal, (prompter) => {
    for (const line of lines) prompter.say(paragraph(line, screen.err));
    return choose("Sign in for this token? [y]es or [n]o? ", { y: true, n: false }, prompter);
  });
  if (accepted) return true;
  throw new Declined(`You declined a token for all of ${visibleLine(resource)}.`);
}
