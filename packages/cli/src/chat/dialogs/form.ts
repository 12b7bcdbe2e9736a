import type { FormAnswer, FormRequest } from "@mcparley/host";
import { askForm } from "../../terminal/questions/ask-form.ts";
import type { Talk } from "../../terminal/questions/choose.ts";
import { fieldsOf } from "../../terminal/questions/form-fields.ts";
import { introduce } from "./dialog.ts";

/** Shows the form of a server, and returns the answer of the user. */
export async function askFields({ origin, message, ...form }: FormRequest, talk: Talk): Promise<FormAnswer> {
  const wants = form.fields.length === 0 ? "asks for your agreement" : "asks you to fill in a form";
  if (!(await introduce({ origin, wants, message }, talk))) return { action: "decline" };
  return askForm({ fields: fieldsOf(form), check: form.check }, talk);
}
