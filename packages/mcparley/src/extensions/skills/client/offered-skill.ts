import type { SkillEntry } from "../skill-entry.ts";

/** A skill as a server offers it, checked in its form. Nothing of it was read yet. */
export interface OfferedSkill extends SkillEntry {
  /** The name that the host has for the server. With `uri` it says which skill this is; `uri` alone does not. */
  readonly server: string;
}
