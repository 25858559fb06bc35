// Random numbers from a readable, typeable seed. Every move has numbers of its own, so
// that the dice of a move fall as before when it is made again.

function mixed(h) {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

// Numbers from 0 to below 1 (Doty-Humphrey's sfc32), for a seed and whole numbers of a purpose.
export function randomOf(seed, ...purpose) {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  for (const part of [seed % 2 ** 32, Math.floor(seed / 2 ** 32), ...purpose]) {
    a = mixed(a ^ part);
    b = mixed((b + a) >>> 0);
    c = mixed(c ^ b);
  }
  const next = () => {
    const found = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + found | 0;
    return found >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

// A place among weights, each as likely as its weight says.
export function drawn(weights, random) {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < weights.length; i++) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.length - 1;
}

export function freshSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0] % 1_000_000;
}
