import { Declined } from "../../../mcp/errors.ts";
import { digestOf } from "../digest.ts";
import type { OfferedSkill } from "./offered-skill.ts";

/** What a person is asked before a skill is loaded. */
export interface ApprovalRequest {
  /** The skill, with the server that it comes from, its front matter and all its files. */
  readonly skill: OfferedSkill;
  /** `changed` where it was approved before and its files are others now; `dynamic` where nothing binds them. */
  readonly reason: "new" | "changed" | "dynamic";
}

/**
 * Where approvals are kept. A key stands for a server and a skill together, a value for all files of the skill as they
 * were approved; both are opaque.
 */
export interface Approvals {
  get(key: string): string | undefined | Promise<string | undefined>;
  set(key: string, value: string): unknown;
}

/** Decides whether a skill may be loaded. */
export type Approve = (request: ApprovalRequest) => boolean | Promise<boolean>;

/** Stands in the place of an approval whose skill has changed since. */
const revoked = "revoked";

/** Notes that a server shows a skill with these files: an approval of others is void, also when they come back. */
export async function observe(approvals: Approvals, skill: OfferedSkill): Promise<void> {
  const kept = await approvals.get(keyOf(skill));
  if (kept === undefined || kept === revoked || kept === (await contentOf(skill))) return;
  await approvals.set(keyOf(skill), revoked);
}

/** Asks for an approval unless the same files were approved before. Throws `Declined`. */
export async function requireApproval(approvals: Approvals, skill: OfferedSkill, approve: Approve): Promise<void> {
  const content = await contentOf(skill);
  const kept = await approvals.get(keyOf(skill));
  if (content !== undefined && kept === content) return;
  const reason = content === undefined ? "dynamic" : kept === undefined ? "new" : "changed";
  const answer: unknown = await approve({ skill, reason });
  if (answer !== true) throw new Declined(`The skill ${skill.uri} of ${skill.server} was not approved.`);
  if (content !== undefined) await approvals.set(keyOf(skill), content);
}

/** Two servers may have a skill at the same URI: they are two skills (Skill Entries, Skill URIs). */
function keyOf({ server, uri }: OfferedSkill): string {
  return JSON.stringify([server, uri]);
}

/** What an approval is bound to: every file with its digest, in any order. Nothing can be said of a dynamic skill. */
async function contentOf({ resources }: OfferedSkill): Promise<string | undefined> {
  if (resources === "dynamic") return undefined;
  const files = resources.map(({ uri, digest }) => JSON.stringify([uri, digest])).toSorted();
  return digestOf(new TextEncoder().encode(files.join("\n")));
}
