import { Cancelled, type Context, Declined, ToolError, createServer, spendState, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { z } from "zod";

const projects = new Map([
  ["website", { files: 214 }],
  ["archive", { files: 1_832 }],
]);

const listProjects = tool({
  description: "Lists the projects.",
  annotations: { readOnlyHint: true },
  call: () => [...projects].map(([name, { files }]) => `${name}: ${files} files`).join("\n"),
});

const deleteProject = tool({
  description: "Deletes a project with all its files. The user must approve it.",
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: z.object({ name: z.string() }),
  call: async ({ name }, ctx) => {
    const project = projects.get(name);
    if (!project)
      throw new ToolError(`Project "${name}" does not exist. Projects: ${[...projects.keys()].join(", ")}.`);

    const message = `Delete project "${name}" with ${project.files} files? This cannot be undone.`;
    if (!(await isApproved(ctx, message, name))) return `The user did not approve. "${name}" was not deleted.`;

    // On stateless revisions the client sends the answer with a new request. It cannot use the same answer twice.
    await spendState(ctx);
    projects.delete(name);
    return `Deleted project "${name}" with ${project.files} files.`;
  },
});

/** Asks the user to repeat the name of the project, because people click "yes" without reading. */
async function isApproved(ctx: Context, message: string, name: string): Promise<boolean> {
  try {
    const { confirmation } = await ctx.elicit({
      message,
      schema: z.object({ confirmation: z.string().describe(`Type ${name} to delete the project.`) }),
    });
    return confirmation === name;
  } catch (error) {
    if (error instanceof Declined || error instanceof Cancelled) return false;
    // On stateless revisions an error suspends the handler until the answer arrives. It must pass.
    throw error;
  }
}

const server = createServer({
  name: "projects",
  version: "1.0.0",
  tools: { list_projects: listProjects, delete_project: deleteProject },
});

await serveStdio(server);
