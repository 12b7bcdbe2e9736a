import { join } from "node:path";
import { type AppliedPlan, type ConfigPlan, applyPlan } from "@mcparley/config";
import { Declined } from "mcparley";
import { stateFolder } from "../../terminal/user-folders.ts";
import { choose } from "../../terminal/questions/choose.ts";
import { isAttended, talk, whyUnasked } from "../../terminal/questions/prompter.ts";
import { printJson, printText } from "../../terminal/screen.ts";
import type { CommandSetting } from "../connection/command.ts";
import type { WriteOptions } from "./options.ts";
import { visibleLine } from "../../terminal/text.ts";
import { withUsageErrors } from "../../targets/config-problem.ts";
import { type HostCheck, checkHost, describeCheck } from "./host-check.ts";
import { type ShownChange, describeChange, shownChange } from "./show-change.ts";

/** A plan and the form in which it is shown. */
interface Change {
  readonly plan: ConfigPlan;
  readonly diff: ShownChange;
}

/**
 * Shows all plans, asks, writes them, and runs the checks of the hosts. A plan without a change is left out.
 *
 * Throws `Declined` on a no, and if nobody can be asked and `--yes` is not given. Nothing is written then.
 */
export async function writeChanges(plans: readonly ConfigPlan[], setting: CommandSetting<WriteOptions>): Promise<void> {
  const { io, screen, options } = setting;
  const changes = plans
    .filter(({ before, after }) => before !== after)
    .map((plan): Change => ({ plan, diff: shownChange(plan, io) }));
  for (const { file, before, after } of plans) {
    if (before === after) screen.note(visibleLine(`${file} has this server already.`));
  }
  const view = options.dryRun ? screen.out : screen.err;
  const text = changes.map(({ plan, diff }) => describeChange(plan, diff, view)).join("\n\n");
  if (options.dryRun) {
    if (options.json) await printJson({ dryRun: true, changes: changes.map((change) => toJson(change)) }, { screen });
    else await printText(text, { screen });
    return;
  }
  if (text !== "") screen.note(text);
  if (changes.length > 0) await confirm(changes.length, setting);
  const documents: object[] = [];
  for (const change of changes) documents.push(await write(change, setting));
  if (options.json) await printJson({ dryRun: false, changes: documents }, { screen });
}

async function confirm(count: number, setting: CommandSetting<WriteOptions>): Promise<void> {
  const { options, stop } = setting;
  if (options.yes) return;
  if (!isAttended(setting)) {
    throw new Declined(
      `Nothing was written, because ${whyUnasked(options)}. Add --yes to write the change that is shown.`,
    );
  }
  const prompt = `Write ${count === 1 ? "it" : `these ${count} changes`}? [y]es or [n]o? `;
  const isConfirmed = await talk(setting, stop.signal, (prompter) => choose(prompt, { y: true, n: false }, prompter));
  if (!isConfirmed) throw new Declined("Nothing was written.");
}

async function write(change: Change, setting: CommandSetting<WriteOptions>): Promise<object> {
  const { io, screen, options } = setting;
  const { plan } = change;
  const appliedPlan = withUsageErrors(() => applyPlan(plan, { backups: join(stateFolder(io), "mcparley", "backups") }));
  if (!options.json) {
    const backup = appliedPlan.backup === undefined ? "" : ` The previous file is ${appliedPlan.backup}.`;
    await printText(visibleLine(`Wrote ${appliedPlan.file}.${backup}`), { screen });
  }
  const check = options.noCheck ? undefined : await checkHost(plan, setting);
  if (check && !options.json) await printText(visibleLine(describeCheck(check, plan.action)), { screen });
  return toJson(change, appliedPlan, check);
}

function toJson({ plan, diff }: Change, appliedPlan?: AppliedPlan, check?: HostCheck): object {
  const { action, host, scope, name, file } = plan;
  return {
    action,
    host,
    scope,
    name,
    file,
    ...diff,
    ...(appliedPlan && { backup: appliedPlan.backup }),
    ...(check && { check }),
  };
}
