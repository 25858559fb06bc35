// Bytes out of base 85, inflated. Five characters are four bytes, as in Python's `b85encode`; a comma
// stands for "<".

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

export async function inflated(text) {
  const size = Math.floor((text.length * 4) / 5);
  const bytes = new DataView(new ArrayBuffer(size + 4));
  const worth = new Uint8Array(128);
  for (let i = 0; i < 85; i++) worth[DIGITS.charCodeAt(i)] = i;
  const signs = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 5) * 5, "~"));
  for (let i = 0, at = 0; i < signs.length; i += 5, at += 4) {
    bytes.setUint32(at, (((worth[signs[i]] * 85 + worth[signs[i + 1]]) * 85 + worth[signs[i + 2]]) * 85 + worth[signs[i + 3]]) * 85 + worth[signs[i + 4]]);
  }
  const plain = new Blob([bytes.buffer.slice(0, size)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
