// @ts-check
import { once } from "node:events";
import { connect } from "mcparley/client";
import { fail, job } from "../load/job.mjs";

/** Reads small resources, reports the process id of the server, and reads a large resource when its parent requests it. */
try {
  const { target, revision, source, form, encoded } = job;
  const client = await connect(target, { revision });
  const read = async (/** @type {string} */ name) => {
    const { contents } = await client.readResource(`large://${name}/${form}`, { onProgress: () => {} });
    const [part] = contents;
    return part === undefined ? "" : "blob" in part ? part.blob : part.text;
  };
  for (let times = 0; times < 5; times++) await read("small");
  const serverPid = Number(await read("idle"));
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.({ serverPid });
  await once(process, "message");
  const { length } = await read(source);
  if (length !== encoded) throw new Error(`The blob has ${length} characters, not ${encoded}.`);
  process.send?.({});
} catch (error) {
  fail(error);
}
