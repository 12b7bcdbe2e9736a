import type { Client } from "mcparley/client";
import { type SkillHost, SkillRefused, type Skills, skill, skills, skillsOf } from "mcparley/skills";

/** Skills of the server: one with folders in it, and one in a folder with others. */
export const offeredSkills: Skills = skills({
  "pdf-forms": skill({
    "SKILL.md": `---
name: pdf-forms
description: Fills the forms of PDF documents.
license: MIT
metadata:
  version: "1.0"
---
Read [the rules](references/rules.md) first.
`,
    "references/rules.md": "Leave nothing empty.\n",
  }),
  "team/reports": skill({
    "SKILL.md": "---\nname: reports\ndescription: Writes the report of a week.\n---\nBe brief.\n",
  }),
});

function hostOf(client: Client): SkillHost {
  return skillsOf(client, { approve: () => true });
}

export async function listSkills(client: Client): Promise<void> {
  await hostOf(client).list().all();
}

/** Loads the first skill like a host, and then one of its files. Stops if either is refused. */
export async function useFirstSkill(client: Client): Promise<void> {
  const host = hostOf(client);
  const [first] = await host.list().all();
  if (!first) throw new Error("The server lists no skill.");
  try {
    const loaded = await host.load(first);
    await loaded.read("references/FORMS.md");
  } catch (error) {
    if (!(error instanceof SkillRefused)) throw error;
  }
}
