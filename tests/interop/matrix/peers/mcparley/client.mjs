import { drive } from "../../driver.mjs";
import { openPeer } from "./peer.mjs";

await drive(openPeer);
