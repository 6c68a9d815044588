// Opens a private record with nothing of ours: HChaCha20 by hand, the rest by Node's own OpenSSL.
// Arguments: the record's JSON, and the link's end (nonce.key in base64). Prints what was encrypted.
import { createDecipheriv } from "node:crypto";

function hchacha20(key, nonce) {
  const state = new Uint32Array(16);
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) state[4 + i] = key.readUInt32LE(4 * i);
  for (let i = 0; i < 4; i++) state[12 + i] = nonce.readUInt32LE(4 * i);
  const rotate = (x, n) => (x << n) | (x >>> (32 - n));
  const quarter = (a, b, c, d) => {
    state[a] += state[b]; state[d] = rotate(state[d] ^ state[a], 16);
    state[c] += state[d]; state[b] = rotate(state[b] ^ state[c], 12);
    state[a] += state[b]; state[d] = rotate(state[d] ^ state[a], 8);
    state[c] += state[d]; state[b] = rotate(state[b] ^ state[c], 7);
  };
  for (let round = 0; round < 10; round++) {
    quarter(0, 4, 8, 12); quarter(1, 5, 9, 13); quarter(2, 6, 10, 14); quarter(3, 7, 11, 15);
    quarter(0, 5, 10, 15); quarter(1, 6, 11, 12); quarter(2, 7, 8, 13); quarter(3, 4, 9, 14);
  }
  const out = Buffer.alloc(32);
  for (let i = 0; i < 4; i++) {
    out.writeUInt32LE(state[i], 4 * i);
    out.writeUInt32LE(state[12 + i], 16 + 4 * i);
  }
  return out;
}

const [json, fragment] = process.argv.slice(2);
const [nonce, key] = fragment.split(".").map((part) => Buffer.from(part, "base64"));
if (nonce.length !== 24 || key.length !== 32) throw new Error("the link's end is not a nonce and a key");
const sealed = Buffer.from(JSON.parse(json).enc_content, "base64");
const short = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]);
const cipher = createDecipheriv("chacha20-poly1305", hchacha20(key, nonce.subarray(0, 16)), short, { authTagLength: 16 });
cipher.setAuthTag(sealed.subarray(-16));
process.stdout.write(Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]));
