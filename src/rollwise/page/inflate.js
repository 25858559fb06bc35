// Bytes out of base 85, inflated. Five characters are four bytes, as in Python's `b85encode`; a comma
// stands for "<".

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

export async function inflated(text) {
  const size = Math.floor((text.length * 4) / 5);
  const bytes = new DataView(new ArrayBuffer(size + 4));
  const worth = new Uint8Array(128);
  for (let i = 0; i < 85; i++) worth[DIGITS.charCodeAt(i)] = i;
  for (let i = 0, at = 0; i < text.length; at += 4) {
    let sum = 0;
    for (const end = i + 5; i < end; i++) sum = sum * 85 + (i < text.length ? worth[text.charCodeAt(i)] : 84);
    bytes.setUint32(at, sum);
  }
  const plain = new Blob([bytes.buffer.slice(0, size)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
