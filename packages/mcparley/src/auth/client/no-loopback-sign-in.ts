import { LocalError } from "../../rpc/errors.ts";
import type { SignIn } from "./sign-in-types.ts";

/** Stands in where nothing can listen for a browser to come back, as in browsers and Workers: says so. */
export function loopbackSignIn(): SignIn {
  const message = "A person has to sign in, and this runtime cannot wait for one to come back. Give oauth a signIn.";
  return { prepare: () => Promise.reject(new LocalError("sign_in_required", message)) };
}
