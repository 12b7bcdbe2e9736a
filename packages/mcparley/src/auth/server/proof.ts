/** The algorithms with which proofs may be signed. */
export const proofAlgorithms: readonly string[] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

/** The codes of refused proofs (RFC 9449, 7.1 and 9). */
type ProofErrorCode = "invalid_dpop_proof" | "use_dpop_nonce";

/** The error for a missing proof, or one that is invalid for its request. The message is sent to the client. */
export class InvalidProof extends Error {
  override readonly name: string = "InvalidProof";
  readonly code: ProofErrorCode;

  constructor(
    message: string,
    { code = "invalid_dpop_proof", cause }: { code?: ProofErrorCode; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
  }
}
